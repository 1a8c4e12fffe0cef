// Keeps pnpm's own lines (the echo of the script, the note about its exit code) off the output of this
// workspace's scripts, so that `pnpm turnlog … --json` prints JSON and `pnpm test` ends with its result.
// Only for the scripts themselves: what installing has to say, errors above all, stays visible.
// It also takes the way to the sources out of what is packed, since the sources are not in it.
const { scripts } = require('./package.json');

const [first, second] = process.argv.slice(2);
const script = first === 'run' ? second : first;

module.exports = {
  hooks: {
    updateConfig(config) {
      if (script !== undefined && Object.hasOwn(scripts, script)) config.reporter = 'silent';
      return config;
    },
    beforePacking(manifest) {
      for (const door of Object.values(manifest.exports ?? {})) delete door['turnlog-src'];
      return manifest;
    },
  },
};
