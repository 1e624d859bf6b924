// What one sees and does on the page beyond its numbers: what hovering says, marked moments, tasks in the picture of
// places, the slowest of a part down to their events, losses, light and dark, paper.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';

const rest = (ms) => new Promise((done) => setTimeout(done, ms));
/** Opens or closes one of the slowest, and waits until the page knows. */
const turn = (slow, open) => slow.evaluate((s, open) => new Promise((done) => {
  if (s.open === open) { done(); return; }
  s.addEventListener('toggle', () => setTimeout(done), { once: true });
  s.open = open;
}), open);
const data = (page) => page.evaluate(() => JSON.parse(document.getElementById('data').textContent));

/** Hovering: numbers of the cell, and the same moment in every chart. */
export async function hover(page) {
  const over = await page.$('.plot .u-over');
  await over.evaluate((o) => o.scrollIntoView({ block: 'center' }));
  const box = await over.boundingBox();
  let said = '';
  for (let y = 4; y < box.height && !/ of .* to /.test(said); y += 2) {
    for (let x = 0.02; x < 1 && !/ of .* to /.test(said); x += 0.05) {
      await page.mouse.move(box.x + box.width * x, box.y + y);
      said = await over.$eval('.tip', (tip) => (tip.hidden ? '' : tip.textContent));
    }
  }
  assert.match(said, /^[\d,]+ of [\d.]+ (ns|us|ms|s) to [\d.]+ (ns|us|ms|s)\nended from [\d.]+ to [\d.]+ s/);
  const tip = await over.$eval('.tip', (t) => { const r = t.getBoundingClientRect(); return [r.left, r.right, innerWidth]; });
  assert.ok(tip[0] >= 0 && tip[1] <= tip[2], `the words stay in the window: ${tip}`);
  await rest(50);
  const at = await page.$$eval('.plot .u-legend .u-series:first-child .u-value', (all) => all.map((v) => v.textContent).filter((t) => / s$/.test(t)));
  assert.ok(at.length > 1, `other charts show the same moment: ${at}`);
  await page.mouse.move(2, 2);
}

/** Colours of a row of points of a chart, as #rrggbb: `down` from its upper edge. */
const row = (chart, down) => chart.evaluate((root, down) => {
  const canvas = root.querySelector('canvas'), over = root.querySelector('.u-over');
  const dot = canvas.width / canvas.clientWidth, [c, o] = [canvas, over].map((e) => e.getBoundingClientRect());
  const y = Math.round((o.top - c.top + (down < 0 ? o.height + down : down)) * dot);
  const [left, width] = [(o.left - c.left) * dot, o.width * dot].map(Math.round);
  const copy = Object.assign(document.createElement('canvas'), { width, height: 1 }).getContext('2d', { willReadFrequently: true });
  copy.drawImage(canvas, left, y, width, 1, 0, 0, width, 1);
  const points = copy.getImageData(0, 0, width, 1).data;
  const out = [];
  for (let i = 0; i < points.length; i += 4) out.push(`#${[0, 1, 2].map((k) => points[i + k].toString(16).padStart(2, '0')).join('')}`);
  return out;
}, down);

/** Moments of findings are marked in the colours of the legend, and what is said of a mark is why the slowest waited. */
export async function marks(page, causes) {
  const legend = await page.$$eval('.marks', (all) => all.flatMap((m) => [...m.querySelectorAll('i')].map((i) => [i.nextSibling.textContent.trim(), getComputedStyle(i).backgroundColor])));
  assert.ok(legend.every(([name]) => name === 'no finding' || causes.includes(name)), String(legend));
  const hex = (rgb) => `#${rgb.match(/\d+/g).slice(0, 3).map((v) => Number(v).toString(16).padStart(2, '0')).join('')}`;
  const seen = new Set();
  for (const chart of await page.$$('.maps .plot')) (await row(chart, 2)).forEach((colour) => seen.add(colour));
  // Those of a group whose map is not open are not seen.
  if (legend.length) assert.ok(legend.some(([, colour]) => seen.has(hex(colour))), `${legend} among ${[...seen].slice(0, 20)}`);
  // And over what else has a time axis.
  const elsewhere = new Set();
  for (const chart of await page.$$('.plot')) {
    // No line of it reaches its upper edge.
    if (await chart.evaluate((n) => n.closest('figure')?.querySelector('figcaption')?.textContent === 'Throughput')) {
      (await row(chart, 2)).forEach((colour) => elsewhere.add(colour));
    }
  }
  const found = legend.filter(([name]) => name !== 'no finding');
  if (found.length) assert.ok(found.some(([, colour]) => elsewhere.has(hex(colour))), `${found} among ${[...elsewhere].slice(0, 20)}`);
  return legend.length;
}

/** Reads and writes of each task apart, one colour for a task; what is switched off is gone. */
export async function places(page) {
  const [place] = (await data(page)).captures[0].places;
  const figure = (await page.$$('figure')).at(await page.$$eval('figure', (all) => all.findIndex((f) => f.querySelector('.chips .chip'))));
  const chips = await figure.$$eval('.chip', (all) => all.map((c) => [c.textContent, c.querySelector('i').style.background]));
  assert.equal(chips.length, Math.min(14, place.who.length));
  const colours = new Map();
  place.who.slice(0, 14).forEach((who, i) => {
    assert.equal(chips[i][0], `${who.writes ? '\u00d7' : '\u25a0'} ${who.task} ${who.writes ? 'writes' : 'reads'} (${who.requests.toLocaleString('en-US')})`);
    assert.equal(colours.get(who.task) ?? chips[i][1], chips[i][1], `${who.task} has one colour`);
    colours.set(who.task, chips[i][1]);
  });
  const shown = () => figure.$eval('canvas', (c) => c.toDataURL());
  const before = await shown();
  const [first] = await figure.$$('.chip');
  await first.evaluate((chip) => chip.click());
  await rest(100);
  assert.notEqual(await shown(), before, 'what is switched off is gone');
  await first.evaluate((chip) => chip.click());
  await rest(100);
  assert.equal(await shown(), before);
}

/** Another class's phases, another device's rates: what stood there before is no part of the page any more. */
export async function choices(page) {
  const selects = await page.$$('select');
  assert.ok(selects.length > 0);
  for (const select of selects) {
    const values = await select.$$eval('option', (all) => all.map((o) => o.value));
    const before = await page.$$eval('.plot canvas, .maps canvas', (all) => all.length);
    await select.select(values.at(-1));
    await rest(50);
    await page.keyboard.press('t');
    await page.keyboard.press('t');
    assert.equal(await page.$$eval('.plot canvas, .maps canvas', (all) => all.length), before);
    await select.select(values[0]);
    await select.evaluate((s) => s.blur());
  }
}

/** The slowest of a part are of that part, and the first is as long as the longest that ended in it; opened, each leads down to
 * its parts, which sum to it, and to its events. */
export async function slowest(page, from, to) {
  const page_data = await data(page);
  const capture = page_data.captures[0];
  const shown = await page.$$eval('.slow', (all) => all.map((s) => [s.querySelector('.ns').textContent, Number(/at ([\d.]+) s/.exec(s.querySelector('.who').textContent)[1])]));
  const ns = (text) => { const [v, unit] = text.split(' '); return Number(v) * { ns: 1, us: 1e3, ms: 1e6, s: 1e9 }[unit]; };
  for (const [length, at] of shown) {
    const end = at + ns(length) / 1e9;
    assert.ok(end >= from * 0.99 - 0.01 && end <= to * 1.01 + 0.01, `${length} at ${at} s ended in ${from} to ${to} s`);
  }
  if (shown.length === 0) return;
  const seen = await page.$$eval('.picture .numbers tbody', (all) => [...all[0].rows].map((r) => [...r.cells].map((c) => c.textContent)));
  const waited = capture.groups.filter((g) => (capture.operations.length ? g.level === 'operation' && g.waited_for : g.level === 'request'));
  const longest = Math.max(...seen.filter((r) => waited.some((g) => r[0].endsWith(g.name))).map((r) => ns(r[6])));
  assert.ok(ns(shown[0][0]) <= longest * 1.08, `${shown[0][0]} for ${longest} ns`);

  const first = await page.$('.slow');
  await turn(first, true);
  await first.waitForSelector('.inner');
  const story = await first.$('.story');
  if (story) await story.evaluate((s) => { s.open = true; });
  const operations = await first.$('.tree') !== null;
  const parts = await first.$$eval(operations ? '.tree > li > .ns' : '.inner > table.numbers:not(.events) tbody td:first-child', (all) => all.map((p) => p.textContent));
  const sum = parts.reduce((n, p) => n + ns(p), 0), whole = ns(shown[0][0]);
  assert.ok(Math.abs(sum - whole) <= whole * 0.01 + 1000, `${parts} for ${shown[0][0]}`);
  await turn(first, false);
}

/** The slowest of all lead down to their events. */
export async function events(page) {
  const first = await page.$('.slow');
  await turn(first, true);
  await first.waitForSelector('.inner');
  const story = await first.$('.story');
  if (story) await story.evaluate((s) => { s.open = true; });
  const rows = await first.$$eval('table.events tbody tr', (all) => all.map((r) => [...r.cells].map((c) => c.textContent)));
  assert.ok(rows.length >= 2, 'the slowest has its events');
  assert.ok(rows.every((r) => r[1].startsWith('+')), 'in order of time');
  await turn(first, false);
  return rows.length;
}

/** Bundled recordings lost nothing: here a loss is put into the page's data. It is shaded in every chart over time. */
export async function losses(page, url, file) {
  const text = readFileSync(file, 'utf8');
  const { captures } = await data(page);
  const span = captures[0].span_ns;
  const lost = text.replace('"losses":[]', `"losses":[[${Math.round(span * 0.3)},${Math.round(span * 0.4)},7,"x"]]`);
  assert.notEqual(lost, text);
  writeFileSync(file, lost);
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
  await page.goto('about:blank');
  await page.goto(url);
  await page.waitForSelector('.plot canvas');
  const charts = await page.$$('.maps .plot, .picture > div > figure > .plot');
  let shaded = 0;
  for (const chart of charts.slice(0, 4)) {
    // What is not drawn upon is clear; the shade is seen between what is.
    const red = (colour) => /^#[bcd].[0-3].[0-3].$/.test(colour);
    const part = (points, from, to) => points.slice(points.length * from, points.length * to).filter(red).length;
    let [within, beside] = [0, 0];
    for (const down of [8, 12, 30, 60, -40, -20, -8]) {
      const points = await row(chart, down);
      within += part(points, 0.31, 0.39);
      beside += part(points, 0, 0.28) + part(points, 0.42, 1);
    }
    if (within > 20 && beside === 0) shaded += 1;
  }
  assert.ok(shaded >= 2, `${shaded} of ${charts.length} charts are shaded where events were lost`);
  writeFileSync(file, text);
}

/** A file may be called anything, up to 4096 bytes by Linux and more in what somebody made: it runs nothing and breaks nothing. */
export async function files(page, url, file) {
  const text = readFileSync(file, 'utf8');
  const name = `\\u003cimg src=x onerror=alert(1)>\\u003c/summary>\\u003cscript>alert(2)\\u003c/script>/${'w'.repeat(64 << 10)}`;
  const hostile = text.replaceAll('"file":null', `"file":"${name}"`);
  if (hostile === text) return;
  writeFileSync(file, hostile);
  await page.goto('about:blank');
  await page.goto(url);
  await page.waitForSelector('.slow');
  const what = await page.$eval('.slow .what', (w) => [w.textContent.length, w.textContent.includes('<img src=x'), w.getBoundingClientRect().height]);
  assert.ok(what[0] > 64 << 10 && what[1] && what[2] < 60, `the name as it is, on a line: ${what}`);
  assert.equal(await page.$$eval('#pictures img, #pictures script', (all) => all.length), 0);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'a long name is cut, not wide');
  writeFileSync(file, text);
}

/** Light, dark, and the other on a key; paper is light whatever the screen is. */
export async function schemes(page) {
  await page.reload();
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
  const dark = await paper();
  await page.keyboard.press('t');
  const light = await paper();
  assert.deepEqual([dark, light], ['rgb(20, 23, 28)', 'rgb(255, 255, 255)']);
  await page.keyboard.press('t');
  assert.equal(await paper(), dark);
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  assert.equal(await paper(), light, 'paper is white');
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  assert.equal(await paper(), dark);
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
  // Who has chosen one keeps it until the page is opened anew.
  assert.equal(await paper(), dark);
  await page.reload();
  await page.waitForSelector('.plot canvas');
  assert.equal(await paper(), light);
}

/** On paper of A4 (794 points of 1/96 inch) nothing runs off the edge, and the charts are there. */
export async function paper(page) {
  await page.emulateMediaType('print');
  await page.setViewport({ width: 794, height: 1123 });
  const wide = await page.$$eval('canvas, table, .bar, p, li', (all) => all.map((e) => [e.tagName, e.getBoundingClientRect()]).filter(([, r]) => r.width > 0 && r.right > 795).map(([tag, r]) => `${tag} to ${r.right}`));
  const charts = await page.$$eval('canvas', (all) => all.filter((c) => c.getBoundingClientRect().width > 300).length);
  assert.deepEqual(wide, []);
  assert.ok(charts >= 4, `${charts} charts`);
  await page.emulateMediaType(null);
  await page.setViewport({ width: 1280, height: 900 });
}

/** Addresses that are no stretch of the recording show all of it. */
export async function addresses(browser, url) {
  for (const odd of ['#t=9-3', '#t=x-y', '#t=-1', '#t=1e999-2', '#<b>']) {
    const page = await browser.newPage();
    await page.goto(url + odd);
    await page.waitForSelector('.plot canvas');
    assert.match(await page.$eval('.seen p', (p) => p.textContent), /^The whole recording/, odd);
    await page.close();
  }
}
