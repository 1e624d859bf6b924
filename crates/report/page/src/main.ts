// The page's pictures, below the verdict that is there without them.

import { Columns, Page } from './data';
import { copyButtons } from './copy';
import { el, table, toggle } from './dom';
import { filter, mark } from './filter';
import { marked } from './findings';
import { count } from './format';
import { commonRange, heatMap } from './heat';
import { placeChart, tasksOf } from './places';
import { fit } from './plot';
import { deviceRows, memoryChart, MEASURES, rateChart, Row } from './rates';
import { selection } from './selection';
import { cdf, sizes } from './spread';
import { CLASS_COLOURS, COLOURS, scheme, setScheme } from './theme';
import { View } from './view';
import { Waterfall } from './waterfall';

/** Heat maps that are open at first. */
const HEAT_MAPS = 4;

function start(): void {
  const page = JSON.parse(document.getElementById('data')!.textContent!) as Page;
  const { captures } = page;
  const top = document.getElementById('pictures')!;
  top.replaceChildren();
  const longest = Math.max(...captures.map((c) => c.span_ns), 1) / 1e9;
  const view = new View({ from: 0, to: longest });
  const all = captures.map((c) => c.groups.map((g) => new Columns(g, c)));
  const words = new Map(page.reasons);
  const section = (title: string, about: string, into = top) => {
    const inner = el('section', { class: 'picture' }, el('h3', {}, title), about ? el('p', { class: 'small' }, about) : null);
    into.append(inner);
    return inner;
  };
  copyButtons();
  const chart = (into: HTMLElement, title: string) => {
    const holder = el('div', { class: 'plot' });
    const figure = el('figure', {}, el('figcaption', {}, title), holder);
    into.append(figure);
    return { holder, figure };
  };

  if (all.every((a) => a.length === 0)) {
    section('Pictures', '').append(el('p', {}, 'Nothing was completed in this recording: there is nothing to draw.'));
    return;
  }
  const first = document.getElementById('first')!;
  const heat = section('Latency over time', '', first);
  const maps = heat.appendChild(el('div', { class: 'maps' }));
  const heatChips = el('p', { class: 'chips' });
  heat.append(heatChips, el('p', { class: 'small' }, 'Latency of each, by when it ended; darker (on a dark page: brighter) is more. Marks at the upper edge: a tenth or more of what ended then is among the slowest 1 %; their colour says which finding explains it.'));
  selection(section('The part shown', ''), captures, all, view);
  const findings = marked(captures, all);
  if (findings.length) {
    const legend = el('p', { class: 'marks' }, 'marked: ');
    for (const { cause, colour } of findings) {
      const square = el('i');
      square.style.background = colour;
      legend.append(square, `${cause} `);
    }
    heat.append(legend);
  }
  const reasons = page.reasons.map(([, plain]) => plain);
  const open = opened(all);
  const range = commonRange(all.flatMap((columns, n) => columns.filter((_, i) => open[n].has(i))));
  const shown = captures.flatMap((capture, n) => all[n].map((columns, i) => ({ capture, columns, n, i })));
  // What is called the same in several captures stands side by side.
  const names = [...new Set(shown.map((m) => m.columns.group.name))];
  shown.sort((a, b) => names.indexOf(a.columns.group.name) - names.indexOf(b.columns.group.name) || a.n - b.n);
  shown.forEach(({ capture, columns, n, i }) => {
    const name = captures.length > 1 ? `${capture.label}: ${columns.group.name}` : columns.group.name;
    let figure: HTMLElement | null = null;
    const place = el('div');
    place.hidden = true;
    mark(place, { device: columns.group.device });
    maps.append(place);
    const show = (on: boolean) => {
      if (on && !figure) {
        const made = chart(place, name);
        figure = made.figure;
        heatMap(made.holder, columns, capture, view, range, reasons);
      }
      if (figure) figure.hidden = !on;
      place.hidden = !on;
      fit();
    };
    const on = open[n].has(i);
    heatChips.append(toggle(name, on, show));
    if (on) show(true);
  });

  const rates = section('Rates and depth', 'Mean of each step, by when it was completed. Marks at the upper edge: moments of the findings, in their colours as above.');
  const devices = [...new Set(captures.flatMap((c) => c.groups.filter((g) => g.level === 'request').map((g) => g.device!)))];
  const plots = el('div');
  const drawRates = (device: string | null) => {
    plots.replaceChildren();
    const rows = deviceRows(captures, all, device);
    if (rows.length) for (const m of ['throughput', 'iops', 'depth']) rateChart(chart(plots, MEASURES[m].title).holder, rows, m, captures, view);
  };
  if (devices.length > 1) {
    const select = el('select', { 'aria-label': 'device' }, ...(captures.length > 1 ? [el('option', { value: '' }, 'the first device of each')] : []),
      ...devices.map((d) => el('option', { value: d }, d)));
    select.onchange = () => drawRates(select.value || null);
    rates.append(el('p', { class: 'chips' }, select));
  }
  rates.append(plots);
  drawRates(captures.length > 1 ? null : devices[0] ?? null);
  const kernel: Row[] = captures.flatMap((c, n) => all[n].filter((x) => x.group.level === 'operation')
    .map((columns, i) => ({
      label: captures.length > 1 ? `${c.label}: ${columns.group.name}` : columns.group.name, columns,
      colour: COLOURS[i % COLOURS.length], ...(columns.group.waited_for === false ? { dash: [5, 3] } : {}),
    })).slice(0, 8));
  if (kernel.length) rateChart(chart(rates, 'Operations in flight (dashed: the kernel\'s own: commits, writeback)').holder, kernel, 'under_way', captures, view);
  const behind: Row[] = captures.flatMap((c, n) => c.behind.map((group) => ({
    label: captures.length > 1 ? `${c.label}: ${group.name}` : group.name, columns: new Columns(group, c),
    colour: group.what === 'journal' ? CLASS_COLOURS.flush : CLASS_COLOURS.background, ...(n > 0 ? { dash: [5, 3] } : {}),
  }))).slice(0, 8);
  if (behind.length) {
    rateChart(chart(rates, 'What writeback and the journal wrote').holder, behind, 'throughput', captures, view);
    // Of write-back alone the chart of what is in the device tells the same.
    if (captures.some((c) => c.behind.some((b) => b.what === 'journal'))) {
      rateChart(chart(rates, 'Requests of writeback and the journal in flight').holder, behind, 'under_way', captures, view);
    }
  }
  for (const c of captures) {
    if (c.memory.at_ns.length >= 2) memoryChart(chart(rates, `Memory${captures.length > 1 ? ` (${c.label})` : ''}`).holder, c, view);
  }

  const places = section('Places on the device', 'Place on the device over time. Squares are reads, crosses are writes; colours are tasks.');
  const tasks = tasksOf(captures);
  captures.forEach((capture) => capture.places.forEach((place, i) => {
    const label = captures.length > 1 ? `${capture.label}: ${place.device}` : place.device;
    const chips = el('p', { class: 'chips' });
    const make = (into: HTMLElement) => {
      const made = chart(into, label);
      made.figure.append(chips);
      placeChart(made.holder, chips, place, capture, tasks, view);
    };
    if (i < 2) make(places);
    else {
      const more = el('details', {}, el('summary', {}, label));
      more.ontoggle = () => { if (more.open && more.children.length === 1) make(more); };
      places.append(more);
    }
  }));

  cdf(section('Latency distribution', 'Cumulative distribution over the whole recording. Each line upwards is rarer: p99 and p99.9 get as much room as p50.'), captures);
  if (captures.some((c) => c.sizes.length)) {
    const grid = el('div', { class: 'grid' });
    section('Sizes of requests', '').append(grid);
    sizes(grid, captures);
  }
  const slow = section('The slowest', 'Of the part shown. Open one for its parts and, where they were kept, its events. Keys: j and k, Enter.');
  slow.classList.add('slowest');
  const waterfall = new Waterfall(slow.appendChild(el('div')), captures, words, view);

  if (captures.some((c) => c.settings.length)) {
    const settings = section('Settings', 'As in the files beside the recording.');
    for (const c of captures) for (const s of c.settings) {
      settings.append(el('details', {}, el('summary', {}, captures.length > 1 ? `${c.label}: ${s.name}` : s.name),
        table(['setting', 'value', 'where it says so'], s.rows, { class: 'settings' })));
    }
  }
  const quality = section('Quality of the data', '');
  for (const c of captures) {
    if (captures.length > 1) quality.append(el('h4', {}, c.label));
    quality.append(table(['what', 'how many', ''], c.quality.map(([what, n, words]) => [what, n === null ? '' : count(n), words]), { class: 'quality' }));
  }
  const left = captures.flatMap((c) => c.left_out);
  if (left.length) section('Left out', '').append(el('ul', {}, ...[...new Set(left)].map((t) => el('li', {}, t))));
  top.append(el('p', { class: 'small' }, `iowhy ${page.version}. Keys: arrows move, + and - zoom, Esc shows all, t turns light and dark.`));

  filter(first, () => { waterfall.draw(); fit(); });
  keys(view, waterfall);
  let again = 0;
  addEventListener('resize', () => { cancelAnimationFrame(again); again = requestAnimationFrame(fit); });
  fit();
}

/** Fewer operations than this make no picture; the table above has their numbers. */
const WORTH_A_MAP = 10;

/** Those whose tail is asked about first, then the first device's others, of each capture. */
function opened(captures: Columns[][]): Set<number>[] {
  return captures.map((all) => {
    const first = all.find((c) => c.group.level === 'request')?.group.device;
    const rank = ({ group }: Columns) => (group.matters ? 0 : group.device === first && group.level === 'request' ? 1 : 2);
    const ended = (c: Columns) => c.done.reduce((a, b) => a + b, 0);
    const order = all.map((c, i) => ({ rank: rank(c), n: ended(c), i })).filter((o) => o.rank < 2);
    order.sort((a, b) => a.rank - b.rank || Number(b.n >= WORTH_A_MAP) - Number(a.n >= WORTH_A_MAP) || a.i - b.i);
    const most = Math.max(1, Math.floor(HEAT_MAPS / captures.length));
    return new Set(order.filter((o, i) => i === 0 || o.rank === 0 || o.n >= WORTH_A_MAP).slice(0, most).map((o) => o.i));
  });
}

function keys(view: View, waterfall: Waterfall): void {
  const acts: Record<string, () => void> = {
    ArrowLeft: () => view.pan(-0.25), ArrowRight: () => view.pan(0.25), '+': () => view.zoom(0.5), '=': () => view.zoom(0.5),
    '-': () => view.zoom(2), Escape: () => view.reset(), '0': () => view.reset(),
    j: () => waterfall.step(1), k: () => waterfall.step(-1), t: () => setScheme(scheme() === 'dark' ? 'light' : 'dark'),
  };
  addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).matches?.('input, select, textarea')) return;
    const act = acts[e.key];
    if (act) { act(); e.preventDefault(); }
  });
}

start();
