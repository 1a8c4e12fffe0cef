import type { DescribedCommand } from './describe.ts';

/** Where nothing is known, the names of files are offered. */
export function bashScript(commands: readonly DescribedCommand[]): string {
  const names = commands.filter(({ path }) => path.length === 1).map(({ path }) => path[0]);
  return `# turnlog: completion for bash
_turnlog() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words=''
  local path="\${COMP_WORDS[1]}"
  case "$path" in
${parents(commands)}  esac
  if (( COMP_CWORD == 1 )); then
    words='${[...names, 'help'].join(' ')}'
  else
    case "$path $before" in
${values(commands)}      *)
        case "$path" in
${commands.map(words).join('')}        esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _turnlog turnlog
`;
}

/** Of a command below another the path is two words, once the second is written. */
function parents(commands: readonly DescribedCommand[]): string {
  return commands
    .filter(({ below }) => below.length > 0)
    .map(({ path }) => `    ${path[0]}) (( COMP_CWORD > 2 )) && path="$path \${COMP_WORDS[2]}" ;;\n`)
    .join('');
}

function values(commands: readonly DescribedCommand[]): string {
  return commands
    .flatMap(({ path, options }) =>
      options
        .filter(({ takesValue }) => takesValue)
        .map((option) => `      '${path.join(' ')} ${option.flag}') words='${option.values.join(' ')}' ;;\n`),
    )
    .join('');
}

function words({ path, options, argumentValues, below }: DescribedCommand): string {
  const offered = [...below, ...argumentValues, ...options.map(({ flag }) => flag)];
  return `          '${path.join(' ')}') words='${offered.join(' ')}' ;;\n`;
}
