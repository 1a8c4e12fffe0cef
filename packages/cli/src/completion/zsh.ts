import type { DescribedCommand, DescribedOption } from './describe.ts';

/** Works when it is sourced, and as the file `_turnlog` in a directory of `fpath`. */
export function zshScript(commands: readonly DescribedCommand[]): string {
  const top = commands.filter(({ path }) => path.length === 1);
  return `#compdef turnlog
# turnlog: completion for zsh
_turnlog() {
  local -a names
  if (( CURRENT == 2 )); then
    names=(
${top.map(named).join('')}    )
    _describe 'command' names
    return
  fi
  shift words
  (( CURRENT-- ))
  case "$words[1]" in
${top.map((command) => caseOf(command, commands)).join('')}  esac
}
if [ "$funcstack[1]" = _turnlog ]; then
  _turnlog "$@"
else
  compdef _turnlog turnlog
fi
`;
}

function named({ path, description }: DescribedCommand): string {
  return `      ${quoted(`${path.at(-1)}:${description}`)}\n`;
}

function caseOf(command: DescribedCommand, commands: readonly DescribedCommand[]): string {
  const [name] = command.path;
  if (command.below.length === 0) return `    ${name}) ${argumentsOf(command)} ;;\n`;
  const below = commands.filter(({ path }) => path.length === 2 && path[0] === name);
  return `    ${name})
      if (( CURRENT == 2 )); then
        names=(
${below.map((each) => `    ${named(each)}`).join('')}        )
        _describe 'command' names
        return
      fi
      shift words
      (( CURRENT-- ))
      case "$words[1]" in
${below.map((each) => `        ${each.path.at(-1)}) ${argumentsOf(each)} ;;\n`).join('')}      esac ;;
`;
}

function argumentsOf({ options, argumentValues }: DescribedCommand): string {
  const first =
    argumentValues.length > 0 ? `'1:argument:(${argumentValues.join(' ')})'` : "'*:argument:_files'";
  return ['_arguments', ...options.map(specOf), first].join(' ');
}

function specOf({ flag, description, takesValue, values }: DescribedOption): string {
  const value = values.length > 0 ? `(${values.join(' ')})` : '_files';
  const text = description.replace(/[[\]:\\]/g, '\\$&');
  return quoted(`${flag}[${text}]${takesValue ? `:value:${value}` : ''}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
