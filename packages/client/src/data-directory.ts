import envPaths from 'env-paths';

/** Where the data lies unless somebody says otherwise: `TURNLOG_DATA`, else where the system keeps such. */
export function defaultDataDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  const { TURNLOG_DATA } = environment;
  return TURNLOG_DATA !== undefined && TURNLOG_DATA !== ''
    ? TURNLOG_DATA
    : envPaths('turnlog', { suffix: '' }).data;
}
