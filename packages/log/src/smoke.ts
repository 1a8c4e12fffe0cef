import { rm, mkdir } from 'node:fs/promises';
import { openSync, writeSync, fdatasync } from 'node:fs';
import { promisify } from 'node:util';
import { openLog } from './index.ts';
const dir = '/work/main/packages/log/.bench';
const data = { turnId: 'turn-1', text: 'x'.repeat(1000), n: 5 };
const N = 40000;
const fd = promisify(fdatasync);
async function floor() {
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true });
  const f = openSync(dir + '/x.jsonl', 'a');
  let queue: { line: string; done: () => void }[] = []; let running = false;
  const append = (e: object) => new Promise<void>((done) => { queue.push({ line: JSON.stringify(e) + '\n', done }); if (!running) { running = true; void run(); } });
  async function run() { while (queue.length) { await new Promise((r) => setImmediate(r)); const g = queue; queue = []; writeSync(f, g.map((x) => x.line).join('')); await fd(f); for (const x of g) x.done(); } running = false; }
  const t = performance.now(); let i = 0;
  await Promise.all(Array.from({ length: 64 }, async () => { while (i < N) { const k = i++; await append({ seq: k, id: '#' + k, stream: 'conversation:' + (k % 1000), revision: 1, type: 'turn_output', v: 1, at: Date.now(), data, meta: {} }); } }));
  return N / (performance.now() - t) * 1000;
}
async function log(ids: boolean) {
  await rm(dir, { recursive: true, force: true });
  const l = await openLog({ directory: dir, clock: Date.now });
  const t = performance.now(); let i = 0;
  await Promise.all(Array.from({ length: 64 }, async () => { while (i < N) { const k = i++; await l.append('conversation:' + (k % 1000), [{ ...(ids && { id: 'id-' + k }), type: 'turn_output', data }]); } }));
  const r = N / (performance.now() - t) * 1000;
  const lat: number[] = []; for (let k = 0; k < 500; k++) { const t0 = performance.now(); await l.append('z', [{ type: 't', data }]); lat.push(performance.now() - t0); } lat.sort((a, b) => a - b);
  const t2 = performance.now(); let n = 0; for await (const p of l.readPages({})) n += p.length;
  const scan = n / (performance.now() - t2) * 1000;
  await l.close(); const t3 = performance.now(); const l2 = await openLog({ directory: dir, clock: Date.now }); const open = performance.now() - t3; await l2.close();
  return { r, scan, open, p50: lat[250] ?? 0 };
}
for (let k = 0; k < 4; k++) { const f = await floor(); const a = await log(false); const b = await log(true); console.log(Math.round(f), Math.round(a.r), (a.r / f).toFixed(2), 'ids', (b.r / f).toFixed(2), 'scan', Math.round(a.scan), 'open', a.open.toFixed(1), 'p50', a.p50.toFixed(2)); }
await rm(dir, { recursive: true, force: true });
