// Keeps pnpm's own lines (the echo of the script, the note about its exit code) off the output of this
// workspace's scripts, so that `pnpm turnlog … --json` prints JSON and `pnpm test` ends with its result.
// Only for the scripts themselves: what installing has to say, errors above all, stays visible.
const { scripts } = require('./package.json');

const [first, second] = process.argv.slice(2);
const script = first === 'run' ? second : first;

module.exports = {
  hooks: {
    updateConfig(config) {
      if (script !== undefined && Object.hasOwn(scripts, script)) config.reporter = 'silent';
      return config;
    },
  },
};
