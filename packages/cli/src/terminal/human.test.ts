import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { formatAge, formatBytes, formatCount, formatDuration, formatTime } from './human.ts';

test('human: bytes', () => {
  assert.equal([0, 1023, 1024, 1536, 1024 * 1024 - 1, 12 * 1024 ** 2, 5 * 1024 ** 5].map(formatBytes), [
    '0 B',
    '1023 B',
    '1.0 KiB',
    '1.5 KiB',
    '1.0 MiB',
    '12.0 MiB',
    '5120.0 TiB',
  ]);
});

test('human: counts, with and without what is counted', () => {
  assert.is(formatCount(1234567), '1,234,567');
  assert.equal(
    [formatCount(0, 'event'), formatCount(1, 'event'), formatCount(2000, 'event')],
    ['0 events', '1 event', '2,000 events'],
  );
  assert.is(formatCount(2, 'entry', 'entries'), '2 entries');
});

test('human: times are in UTC, to the second', () => {
  assert.is(formatTime(Date.UTC(2026, 0, 31, 9, 5, 0, 987)), '2026-01-31 09:05:00Z');
});

test('human: ages count whole units, and become a day after a month', () => {
  const now = Date.UTC(2026, 5, 15, 12);
  const ages = [-5000, 0, 999, 1000, 59_999, 60_000, 3_600_000, 86_400_000 * 30, 86_400_000 * 31];
  assert.equal(
    ages.map((age) => formatAge(now - age, now)),
    [
      'just now',
      'just now',
      'just now',
      '1 s ago',
      '59 s ago',
      '1 min ago',
      '1 h ago',
      '30 d ago',
      '2026-05-15',
    ],
  );
});

test('human: durations', () => {
  assert.equal([0.4, 250, 1500, 59_949, 59_950, 125_000].map(formatDuration), [
    '0 ms',
    '250 ms',
    '1.5 s',
    '59.9 s',
    '1 min 0 s',
    '2 min 5 s',
  ]);
});

test.run();
