/**
 * Makes text of a conversation safe to show in a terminal. It may hold anything an agent, a tool or a web
 * page wrote: escape sequences that move the cursor or retitle the window, direction marks that make one
 * word look like another, characters that take no room and hide what is there. All of it is shown as an
 * escape (`\x1b`, `\u{202e}`) instead of being sent. Emoji, and the joiners that scripts need, stay as
 * they are. Line breaks are the terminal's own only where the caller says so.
 */

/** Scripts whose letters change shape at a joiner, where it therefore is part of the spelling. */
const JOINED = [
  'Arabic',
  'Syriac',
  'Devanagari',
  'Bengali',
  'Gurmukhi',
  'Gujarati',
  'Oriya',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
]
  .map((script) => `\\p{Script=${script}}`)
  .join('');

/** What is never shown as it is: controls, line separators, unpaired surrogates and all that is invisible. */
const HIDDEN = String.raw`[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u{FFF9}-\u{FFFB}]`;

/** Sequences that hold such characters and are all the same what people write. */
const ALLOWED = [
  String.raw`\p{RGI_Emoji}`,
  // A form of the visible character before it; a second one in a row says nothing and may carry hidden data.
  String.raw`(?<=[^\p{Cc}\p{Default_Ignorable_Code_Point}])[\uFE00-\uFE0F]`,
  String.raw`(?<=\p{Script=Han})[\u{E0100}-\u{E01EF}]`,
  `(?<=[${JOINED}])[\\u200C\\u200D](?=[${JOINED}])`,
].join('|');

// Built from text because the flag "v" is newer than the language version that the sources compile to.
const PATTERN = new RegExp(`(?<allowed>${ALLOWED})|${HIDDEN}`, 'gv');

/** Safe text of several lines: line breaks and tabs are kept. */
export function safeText(text: string): string {
  return escapeHidden(text.replaceAll('\r\n', '\n'), (character) => character === '\n' || character === '\t');
}

/** Safe text for a place of one line: line breaks and tabs are shown as `\n` and `\t`. */
export function safeLine(text: string): string {
  return escapeHidden(text, () => false);
}

/** JSON of the same value that is also safe to show: what is hidden is written as JSON escapes. */
export function safeJson(json: string): string {
  return json.replace(PATTERN, (found, allowed?: string) => {
    // Line breaks between the parts are the only ones that JSON text can hold.
    if (allowed !== undefined || found === '\n') return found;
    return [...Array(found.length).keys()]
      .map((place) => `\\u${found.charCodeAt(place).toString(16).padStart(4, '0')}`)
      .join('');
  });
}

function escapeHidden(text: string, isKept: (character: string) => boolean): string {
  return text
    .toWellFormed()
    .replace(PATTERN, (found, allowed?: string) =>
      allowed !== undefined || isKept(found) ? found : escapeOf(found),
    );
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return SHORT_ESCAPES[character] ?? (code < 0x100 ? `\\x${hex.padStart(2, '0')}` : `\\u{${hex}}`);
}
