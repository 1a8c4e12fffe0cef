// The turnlog command from the workspace: builds what is out of date, then becomes the command itself.
// There is no process in between, so arguments, exit code, signals and the terminal are the command's own.
import { pathToFileURL } from 'node:url';
import { buildIfStale } from './build.mjs';
import { stopWithLauncher } from './launcher.mjs';

const entry = buildIfStale();
stopWithLauncher();
process.argv[1] = entry;
await import(pathToFileURL(entry).href);
