// The page in a real Chromium: it loads without an error and asks nobody for anything, its numbers are those of
// `iowhy explain --json`, dragging looks at a part, keys work, links lead to a moment, names of tasks run no script.
//
//   node test/browser.mjs IOWHY CHROMIUM RECORDING [PICTURES]
//
// With PICTURES, a folder, the page is also kept as pictures there: three widths, light and dark. Where the recording is
// given as before=A,after=B the page is that of both, and its numbers are those of `iowhy compare --json`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';
import * as look from './look.mjs';

const [iowhy, chromium, recording, pictures] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'iowhy-page-'));
const file = join(folder, 'page.html');
const recordings = recording.split(',');
execFileSync(iowhy, ['report', '--html', file, ...recordings]);
const plain = recordings.map((r) => r.replace(/^[a-z]+=/, ''));
const read = (...args) => JSON.parse(execFileSync(iowhy, args, { maxBuffer: 1 << 28 }));
const all = plain.map((r) => read('explain', '--json', r));
const longest = all.reduce((a, b) => (a.capture.duration_ns >= b.capture.duration_ns ? a : b));
/** Pictures show so much of the page, from where its pictures begin; the rest is as the documents say. */
const OF_A_PICTURE = 2100;
/** A page is open when its pictures are there: sooner than this, in milliseconds. On a busy machine the clock says little;
 * then the processors' time of all of the browser must be below it. */
const SOON = 1000;
/** Of the script, in bytes: whatever was recorded, a page has at most 2 MB of data. */
const MOST_MEMORY = 100e6;

const browser = await puppeteer.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-gpu'] });
try {
  const page = await browser.newPage();
  const troubles = [], asked = [];
  page.on('pageerror', (e) => troubles.push(String(e)));
  page.on('console', (m) => { if (['error', 'warn'].includes(m.type())) troubles.push(m.text()); });
  page.on('request', (r) => asked.push(r.url()));
  await page.setViewport({ width: 1280, height: 900 });
  const url = pathToFileURL(file).href;
  // On a busy machine a moment says little: the best of a few.
  const machine = await browser.target().createCDPSession();
  const worked = async () => (await machine.send('SystemInfo.getProcessInfo')).processInfo.reduce((sum, p) => sum + p.cpuTime * 1000, 0);
  let [opened, work] = [Infinity, Infinity];
  for (let round = 0; round < 5 && opened >= SOON; round++) {
    if (round > 0) await page.goto('about:blank');
    asked.length = 0;
    const begun = Date.now(), before = await worked();
    await page.goto(url);
    await page.waitForSelector('.plot canvas');
    opened = Math.min(opened, Date.now() - begun);
    work = Math.min(work, await worked() - before);
  }
  const memory = (await page.metrics()).JSHeapUsedSize;
  console.log(`${basename(recording)}: opened in ${opened} ms, ${Math.round(work)} ms of processors, with ${Math.round(memory / 1e6)} MB`);
  assert.ok(memory < MOST_MEMORY, `${memory} bytes`);
  assert.ok(work > 0 && Math.min(opened, work) < SOON, `opened in ${opened} ms, ${work} ms of processors`);
  assert.deepEqual(asked, [url], 'the page asked for something');

  // The sentence, who waited and the latency picture are seen without scrolling, on a desk and in a hand.
  for (const width of recordings.length > 1 ? [] : [1400, 400]) {
    await page.setViewport({ width, height: 900 });
    await page.goto('about:blank');
    await page.goto(url);
    await page.waitForSelector('#first canvas');
    const bottoms = await page.evaluate(() => ['.opening .so', '.opening', '#first canvas'].map((s) => document.querySelector(s).getBoundingClientRect().bottom));
    assert.ok(bottoms.every((bottom) => bottom > 0 && bottom <= 900), `${width} wide: ${bottoms}`);
    // The legend has numbers though nothing is pointed at.
    const said = await page.$$eval('#first .u-legend .u-series:not(.fixed) .u-value', (all) => all.map((v) => v.textContent.trim()));
    assert.ok(said.length >= 4 && said.every((text) => text !== '' && text !== '--'), `${said}`);
  }
  // Who is chosen is all that is seen of whom one knows, and the address leads there.
  const task = await page.$eval('select[aria-label="task"] option:nth-child(2)', (o) => o.value).catch(() => null);
  if (task !== null) {
    await page.select('select[aria-label="task"]', task);
    const seenTasks = () => page.$$eval('[data-task]', (all) => [...new Set(all.filter((n) => n.offsetParent).map((n) => n.dataset.task))]);
    assert.deepEqual(await seenTasks(), [task]);
    const address = await page.evaluate(() => location.href);
    assert.equal(new URLSearchParams(new URL(address).hash.slice(1)).get('task'), task);
    await page.goto('about:blank');
    await page.goto(address);
    await page.waitForSelector('#first canvas');
    assert.deepEqual(await seenTasks(), [task], 'after a link');
  }
  assert.equal(await page.$$eval('code.command + button.copy', (all) => all.length), await page.$$eval('code.command', (all) => all.length));
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto('about:blank');
  await page.goto(url);
  await page.waitForSelector('.plot canvas');

  // Rows of "What is seen": what, how many, moved, p50, p99, p99.9, max.
  const seen = () => page.$$eval('.picture .numbers tbody', (all) => [...all[0].rows].map((r) => [...r.cells].map((c) => c.textContent)));
  const number = (text) => Number(text.replaceAll(',', ''));
  const ns = (text) => { const [v, unit] = text.split(' '); return Number(v) * { ns: 1, us: 1e3, ms: 1e6, s: 1e9 }[unit]; };
  const whole = await seen();
  let compared = 0;
  const labels = recordings.map((r) => (recordings.length > 1 ? `${r.split('=')[0]}: ` : ''));
  const requests = all.flatMap((one, n) => one.operations.filter((o) => o.level === 'request' && o.by_class === undefined)
    .map((o) => ({ ...o, name: `${labels[n]}${o.name}` })));
  for (const o of requests) {
    const words = { read: ['reads'], write: ['synchronous writes', 'background writes'], flush: ['flushes'] }[o.op] ?? [];
    const row = whole.find((r) => words.some((w) => r[0] === `${o.name} ${w}`));
    if (!row) continue;
    assert.equal(number(row[1]), o.count, row[0]);
    ['p50', 'p99', 'p999', 'max'].forEach((q, i) => {
      const exact = o.latency_ns[q];
      assert.ok(Math.abs(ns(row[3 + i]) - exact) <= exact * 0.006 + 1, `${row[0]} ${q}: ${row[3 + i]} for ${exact} ns`);
    });
    compared += 1;
  }
  assert.ok(compared > 0, 'no number was compared');

  // How good the data is.
  const quality = await page.$$eval('table.quality', (tables) => tables.map((t) => [...t.tBodies[0].rows].map((r) => [...r.cells].map((c) => c.textContent))));
  all.forEach((one, n) => {
    const row = (name) => number(quality[n].find((r) => r[0] === name)[1]);
    assert.equal(row('events read'), one.quality.events);
    assert.equal(row('events lost'), one.quality.lost);
    assert.equal(row('without a match'), one.quality.unmatched);
  });

  // Findings are told, and their moments marked in their colours.
  const causes = all.flatMap((one) => one.causes.filter((c) => c.verdict === 'found').map((c) => c.cause));
  const said = await page.$$eval('.cause strong', (found) => found.map((c) => c.textContent));
  // The page has them in the order of what the first victim lost, `causes` in that of all that was slow.
  assert.deepEqual([...said].sort(), [...causes].sort());
  all.filter((one) => one.answer.kind === 'cause').forEach((one) => assert.ok(said.includes(one.answer.cause)));
  if (all.length === 1 && all[0].answer.kind === 'cause') assert.equal(said[0], all[0].answer.cause);
  const marked = await look.marks(page, causes);
  await look.hover(page);
  await look.places(page);
  await look.choices(page);
  const told = await look.events(page);
  console.log(`  ${compared} rows of numbers, ${marked} kinds of marks, ${told} events of the slowest`);

  // Two recordings: the numbers of the comparison.
  if (recordings.length === 2) {
    const compare = read('compare', '--json', ...plain);
    const sentence = await page.$eval('.so', (p) => p.textContent);
    assert.equal(sentence.replace(/\.$/, ''), compare.sentence.replace(/\.$/, ''));
    const rows = await page.$$eval('.compared tbody tr', (all) => all.map((r) => [...r.cells].map((c) => c.textContent)));
    const metrics = compare.operations.filter((o) => o.waited_for)[0].metrics;
    for (const name of ['p50', 'p99']) {
      const metric = metrics.find((m) => m.name === name);
      const row = rows.find((r) => r[1] === name);
      [metric.before, metric.after].forEach((v, i) => assert.ok(Math.abs(ns(row[2 + i]) - v) <= v * 0.006 + 1, `${name}: ${row} for ${v}`));
      assert.ok(Math.abs(Number(row[4]) - metric.ratio) <= 0.005 * Math.max(0.1, metric.ratio), `${row[4]} for ${metric.ratio}`);
    }
  } else assert.equal(await page.$('.compared'), null);

  // Dragging over one picture looks at a part in all of them.
  const over = await page.$('.plot .u-over');
  await over.scrollIntoView();
  const box = await over.boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.25, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, y, { steps: 5 });
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.startsWith('#t='));
  const span = longest.capture.duration_ns / 1e9;
  const stretch = async () => (await page.evaluate(() => location.hash)).slice(3).split('-').map(Number);
  const [from, to] = await stretch();
  assert.ok(Math.abs(from - span * 0.25) < span * 0.02 && Math.abs(to - span * 0.5) < span * 0.02, `${from} to ${to} of ${span}`);
  await new Promise((done) => setTimeout(done, 200));
  const part = await seen();
  const sum = (rows) => rows.reduce((n, r) => n + number(r[1]), 0);
  assert.ok(sum(part) > 0 && sum(part) < sum(whole), `${sum(part)} of ${sum(whole)}`);
  await look.slowest(page, from, to);

  // Keys.
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction((before) => Number(location.hash.slice(3).split('-')[0]) > before, {}, from);
  await page.waitForFunction(() => document.querySelectorAll('.slow').length > 0);
  await new Promise((done) => setTimeout(done, 200));
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.slow[open] .inner table, .slow[open] .inner .tree', { timeout: 3000 });
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => location.hash === '');
  await new Promise((done) => setTimeout(done, 100));
  assert.deepEqual(await seen(), whole);

  // A link to a moment.
  const linked = await browser.newPage();
  await linked.goto(`${url}#t=${(span * 0.4).toFixed(3)}-${(span * 0.6).toFixed(3)}`);
  await linked.waitForSelector('.plot canvas');
  assert.match(await linked.$eval('.seen p', (p) => p.textContent), /^From /);
  await linked.close();
  await look.addresses(browser, url);
  await look.schemes(page);

  // Nothing is wider than the window, on a telephone neither.
  for (const width of [390, 820, 1280]) {
    for (const scheme of ['light', 'dark']) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await page.setViewport({ width, height: 900 });
      // Charts are drawn anew for the new width, which takes a moment.
      await page.waitForFunction((width) => document.documentElement.scrollWidth <= width, { timeout: 5000 }, width);
      if (pictures) {
        const top = await page.$eval('.seen', (seen) => seen.closest('section').getBoundingClientRect().top + scrollY);
        const clip = { x: 0, y: top, width, height: OF_A_PICTURE };
        await page.screenshot({ path: join(pictures, `page-${width}-${scheme}.png`), captureBeyondViewport: true, clip });
      }
    }
  }

  // Paper.
  await page.setViewport({ width: 1280, height: 900 });
  const paper = await page.pdf({ format: 'A4' });
  assert.equal(Buffer.from(paper.subarray(0, 5)).toString(), '%PDF-');
  await look.paper(page);
  if (recordings.length === 1) await look.losses(page, url, file);
  await look.files(page, url, file);

  // Tasks that are called like markup (the kernel gives names 15 bytes): all of their pictures are opened, nothing of theirs runs.
  const text = join(folder, 'hostile.txt');
  const names = ['<img src=x>', '</script><b>', '"><svg><script>'];
  const line = (n, at, action, name) => `  8,0    0 ${String(n).padStart(8)} ${at.toFixed(9).padStart(14)} ${100 + (n % 3)}  ${action}   R ${n * 8} + 8 [${name}]`;
  const lines = Array.from({ length: 120 }, (_, n) => ['Q', 'G', 'D', 'C'].map((action, i) => line(n, n * 0.01 + i * 0.001, action, action === 'C' ? '0' : names[n % 3]))).flat();
  writeFileSync(text, lines.join('\n') + '\n');
  // What somebody calls a recording may be as long as an argument gets.
  const label = `</title><script>alert(1)</script>${'w'.repeat(64 << 10)}`;
  execFileSync(iowhy, ['report', '--html', file, `${label}=${text}`]);
  page.on('dialog', async (d) => { troubles.push(`a name ran: ${d.message()}`); await d.dismiss(); });
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto('about:blank');
  await page.goto(url);
  await page.waitForSelector('.slow', { timeout: 5000 });
  await page.$$eval('details', (all) => all.forEach((d) => { d.open = true; }));
  await page.waitForSelector('.slow[open] .inner', { timeout: 5000 });
  const shown = await page.evaluate(() => document.querySelector('#pictures').textContent);
  assert.ok(names.some((name) => shown.includes(name)), 'the names are shown as they are');
  assert.equal(await page.$$eval('#pictures img, #pictures svg, #pictures script', (all) => all.length), 0);
  assert.equal(await page.$$eval('script', (all) => all.length), 2);
  assert.equal(await page.$$eval('img', (all) => all.length), 0);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 1280), 'a long name is broken, not wide');
  assert.deepEqual(troubles, []);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
