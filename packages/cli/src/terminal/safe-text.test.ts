import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { safeJson, safeLine, safeText } from './safe-text.ts';

/** Everything that a terminal could act on, or that a reader could not see. */
const DANGEROUS =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;

test('safe text: escape sequences are shown, not sent', () => {
  assert.is(safeText('\u001b[2J\u001b]0;title\u0007'), '\\x1b[2J\\x1b]0;title\\x07');
  assert.is(safeText('a\u009b31mb\u0085\u007f\u0000'), 'a\\x9b31mb\\x85\\x7f\\x00');
});

test('safe text: direction marks and isolates are shown', () => {
  assert.is(safeText('user\u202eadmin\u2066x\u2069'), 'user\\u{202e}admin\\u{2066}x\\u{2069}');
  assert.is(safeText('\u061c\u200e\u200f'), '\\u{61c}\\u{200e}\\u{200f}');
});

test('safe text: characters without width are shown', () => {
  assert.is(safeText('pay\u200bpal\u2060\ufeff\u00ad'), 'pay\\u{200b}pal\\u{2060}\\u{feff}\\xad');
  assert.is(safeText('pay\u200dpal'), 'pay\\u{200d}pal');
  assert.is(safeText('a\u{e0041}\u{e0042}'), 'a\\u{e0041}\\u{e0042}');
});

test('safe text: emoji stay whole', () => {
  for (const emoji of [
    '👩‍👩‍👧',
    '🏳️‍🌈',
    '👍🏽',
    '❤️',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    '🇪🇺',
    '1️⃣',
  ]) {
    assert.is(safeText(`a${emoji}b`), `a${emoji}b`);
  }
});

test('safe text: joiners that a script needs stay', () => {
  assert.is(safeText('می\u200cخواهم'), 'می\u200cخواهم');
  assert.is(safeText('क्\u200dष'), 'क्\u200dष');
});

test('safe text: one variation selector may follow, a row of them carries hidden data', () => {
  assert.is(safeText('a\ufe0e'), 'a\ufe0e');
  assert.is(safeText('a\ufe0e\ufe01\ufe02'), 'a\ufe0e\\u{fe01}\\u{fe02}');
  assert.is(safeText('葛\u{e0100}'), '葛\u{e0100}');
  assert.is(safeText('a\u{e0100}'), 'a\\u{e0100}');
});

test('safe text: an unpaired surrogate becomes the replacement character', () => {
  assert.is(safeText('a\ud800b\udc00'), 'a\ufffdb\ufffd');
});

test('safe text: several lines keep their breaks, one line shows them', () => {
  assert.is(safeText('a\r\nb\tc\rd'), 'a\nb\tc\\rd');
  assert.is(safeLine('a\r\nb\tc\u2028d'), 'a\\r\\nb\\tc\\u{2028}d');
});

test('safe text: plain text of any language is left as it is', () => {
  for (const text of ['Grüße, naïve café', '日本語 テキスト', 'שלום', 'e\u0301', '\\x1b', '']) {
    assert.is(safeText(text), text);
    assert.is(safeLine(text), text);
  }
});

test('safe text: whatever comes in, nothing dangerous goes out', () => {
  const nasty = fc.string({
    unit: fc.oneof(
      fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
      fc.constantFrom('\u001b', '\u202e', '\u200d', '👩', '\ud83d', '\n', '\r'),
    ),
  });
  fc.assert(
    fc.property(nasty, (text) => {
      assert.not.match(safeText(text).replaceAll(/[\n\t]/g, ''), DANGEROUS);
      assert.not.match(safeLine(text), DANGEROUS);
      assert.not.match(safeLine(text), /[\n\t]/);
      assert.ok(safeText(text).isWellFormed());
      assert.is(safeLine(safeLine(text)), safeLine(text));
    }),
    { numRuns: 500 },
  );
});

test('safe JSON: it is safe to show and still the same value', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u202e', '\u009b', '\u007f', '\ud800', '\u{e0041}'),
      (text, nasty) => {
        const value = { [text]: [`${text}${nasty}`, 1, null] };
        const json = safeJson(JSON.stringify(value, null, 2));
        assert.not.match(json.replaceAll('\n', ''), DANGEROUS);
        assert.equal(JSON.parse(json), value);
      },
    ),
  );
});

test.run();
