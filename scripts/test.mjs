// The test command: every suite of the workspace, or those whose path holds the given text.
// What it does is in test/src/runner; this file only lets Node.js read TypeScript.
import { register } from 'tsx/esm/api';

register();
const { main } = await import('../test/src/runner/main.ts');
process.exitCode = await main(process.argv.slice(2));
