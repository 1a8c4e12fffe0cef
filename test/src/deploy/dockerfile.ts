import { DockerfileParser, type From, type Instruction, type JSONInstruction } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';

/** What is wrong with a Dockerfile, each with its line. */
export function dockerfileProblems(text: string, exists: (path: string) => boolean): string[] {
  const file = DockerfileParser.parse(text);
  const syntax = validate(text).map(({ range, message }) => `line ${range.start.line + 1}: ${message}`);
  const instructions = file.getInstructions();
  const stages = file.getFROMs();
  const first = stages.at(-1)?.getRange().start.line ?? 0;
  const final = instructions.filter((instruction) => instruction.getRange().start.line >= first);
  return [
    ...syntax,
    ...stages.flatMap(baseProblems(stages)),
    ...(stages.length < 2 ? ['the image holds what it was built with: there is only one stage'] : []),
    ...instructions.flatMap((instruction) => sourceProblems(instruction, stages, exists)),
    ...finalProblems(final),
  ];
}

/** A base without a tag, or with one that moves to the next major version, is another base tomorrow. */
function baseProblems(stages: readonly From[]): (from: From) => string[] {
  const names = new Set(stages.map((from) => from.getBuildStage()));
  return (from) => {
    if (names.has(from.getImage())) return [];
    const tag = from.getImageTag();
    return tag === null || !/\d/.test(tag) ? [at(from, `${from.getImage()} names no version`)] : [];
  };
}

/** What is copied is in the workspace, or in a stage that is there. */
function sourceProblems(
  instruction: Instruction,
  stages: readonly From[],
  exists: (path: string) => boolean,
): string[] {
  const keyword = instruction.getKeyword();
  if (keyword === 'ADD') return [at(instruction, 'ADD may fetch or unpack; COPY says what it does')];
  if (keyword !== 'COPY') return [];
  const copy = instruction as JSONInstruction;
  const from = copy
    .getFlags()
    .find((flag) => flag.getName() === 'from')
    ?.getValue();
  if (from !== undefined && from !== null) {
    const isStage = stages.some((stage) => stage.getBuildStage() === from);
    return isStage ? [] : [at(copy, `there is no stage "${from}"`)];
  }
  const paths = copy.getArguments().map((argument) => argument.getValue());
  return paths
    .slice(0, -1)
    .filter((path) => !exists(path))
    .map((path) => at(copy, `"${path}" is not in the workspace`));
}

/** The stage that becomes the image: not root, its health is asked for, and signals reach the process itself. */
function finalProblems(final: readonly Instruction[]): string[] {
  const last = (keyword: string) => final.findLast((instruction) => instruction.getKeyword() === keyword);
  const user = last('USER')?.getArguments()[0]?.getValue();
  const health = last('HEALTHCHECK')?.getArguments()[0]?.getValue();
  const entry = last('ENTRYPOINT') as JSONInstruction | undefined;
  return [
    ...(user === undefined || /^(root|0)(:|$)/.test(user) ? ['the image runs as root'] : []),
    ...(health === undefined || health === 'NONE' ? ['the image has no HEALTHCHECK'] : []),
    ...(entry === undefined || entry.getJSONStrings().length === 0
      ? ['ENTRYPOINT is no JSON array, so a shell would get the signals']
      : []),
  ];
}

function at(instruction: Instruction, problem: string): string {
  return `line ${instruction.getRange().start.line + 1}: ${problem}`;
}

/** The words of the last ENTRYPOINT. */
export function entrypointOf(text: string): string[] {
  const entry = DockerfileParser.parse(text).getENTRYPOINTs().at(-1);
  return (entry?.getJSONStrings() ?? []).map((word) => word.getJSONValue());
}
