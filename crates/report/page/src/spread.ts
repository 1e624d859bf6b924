// How latencies and sizes are spread over the whole recording. The latency axis is logarithmic, and so is the tail: each
// line upwards is ten times rarer, so that p99.9 has as much room as p90.

import uPlot from 'uplot';
import { Capture, Latency, unpack } from './data';
import { el } from './dom';
import { count, percent, size, time } from './format';
import { axis, LEGEND, logSplits, register } from './plot';
import { COLOURS, OTHERS } from './theme';

/** Words and colours of phases: those of the reasons for which the time went. */
const PHASES: Record<string, [string, string]> = {
  q2g: ['waiting for a request, a tag (Q2G)', '#d55e00'], g2i: ['between request and scheduler (G2I)', '#f0b27a'],
  i2d: ['in the I/O scheduler (I2D)', '#e69f00'], d2c: ['in the device (D2C)', '#0072b2'], q2c: ['all of it (Q2C)', OTHERS],
};
/** Curves of one capture in a chart: as many as there are colours. */
const MOST_CURVES = COLOURS.length;
const QUANTILES = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];
const nines = (q: number) => -Math.log10(1 - q);

interface Curve { label: string; latency: Latency; colour: string; dash?: number[] }

/** Operations from beginning to end; where there are none, the first device's requests. */
function whole(captures: Capture[]): Curve[] {
  return captures.flatMap((capture, n) => {
    const all = capture.latency.filter((l) => l.phase === 'all');
    const first = capture.groups.find((g) => g.level === 'request')?.device;
    const ofFirst = new Set(capture.groups.filter((g) => g.level === 'request' && g.device === first).map((g) => g.name));
    // The kernel's own flushes are never queued: of them, the time in the device.
    const queued = (name: string) => capture.latency.some((o) => o.name === name && o.phase === 'q2c');
    const requests = capture.latency.filter((l) => ofFirst.has(l.name) && (l.phase === 'q2c' || (l.phase === 'd2c' && !queued(l.name))));
    return (all.length ? all : requests).slice(0, MOST_CURVES)
      .map((latency, i) => curve(captures, n, latency.name, latency, COLOURS[i]));
  });
}

/** The phases of one class of requests. */
function phases(captures: Capture[], name: string): Curve[] {
  return captures.flatMap((capture, n) => capture.latency.filter((l) => l.name === name && PHASES[l.phase])
    .map((latency) => curve(captures, n, PHASES[latency.phase][0], latency, PHASES[latency.phase][1])));
}

/** Of further captures they are dashed. */
function curve(captures: Capture[], n: number, label: string, latency: Latency, colour: string): Curve {
  return { label: captures.length > 1 ? `${captures[n].label}: ${label}` : label, latency, colour, ...(n > 0 ? { dash: [6, 3] } : {}) };
}

export function cdf(holder: HTMLElement, captures: Capture[]): void {
  const two = holder.appendChild(el('div', { class: 'maps' }));
  const chart = (title: Node | string, shown: Curve[]) => {
    const plot = el('div');
    const figure = el('figure', {}, el('figcaption', {}, title), plot);
    two.append(el('div', {}, figure));
    let u = cdfChart(plot, shown);
    return (now: Curve[]) => {
      u?.destroy();
      u = cdfChart(plot, now);
    };
  };
  chart('From beginning to end', whole(captures));
  // What is waited for first, then by how many there are.
  const requests = captures.flatMap((c) => c.groups.filter((g) => g.level === 'request'));
  const many = (name: string) => Math.max(0, ...captures.flatMap((c) => c.latency).filter((l) => l.name === name).map((l) => l.count));
  requests.sort((a, b) => Number(b.matters) - Number(a.matters) || many(b.name) - many(a.name));
  const names = [...new Set(requests.map((g) => g.name))].filter((n) => phases(captures, n).length > captures.length);
  if (names.length === 0) return;
  const select = el('select', { 'aria-label': 'whose phases' }, ...names.map((n) => el('option', { value: n }, n)));
  const caption = el('span', {}, 'By phase: ', select);
  const draw = chart(caption, phases(captures, names[0]));
  select.onchange = () => draw(phases(captures, select.value));
}

function cdfChart(holder: HTMLElement, shown: Curve[]): uPlot | null {
  if (shown.length === 0) return null;
  const steps = shown.map(({ latency }) => {
    const packed = unpack(latency.buckets);
    const out: [number, number][] = [];
    let lower = 0, seen = 0;
    for (let i = 0; i < packed.length; i += 2) {
      lower += packed[i];
      seen += packed[i + 1];
      // Of the last bucket all were reached; half a count keeps it on the picture.
      out.push([Math.max(lower, 1), nines(Math.min(seen, latency.count - 0.5) / latency.count)]);
    }
    return out;
  });
  const x = [...new Set(steps.flatMap((s) => s.map((p) => p[0])))].sort((a, b) => a - b);
  const lines = steps.map((points) => {
    let at = 0, last: number | null = null;
    return x.map((v) => {
      if (at >= points.length) return null;
      while (at < points.length && points[at][0] <= v) last = points[at++][1];
      return last;
    });
  });
  const top = Math.max(...steps.map((s) => s[s.length - 1]?.[1] ?? 1), 2);
  const u = new uPlot({
    width: Math.max(200, holder.clientWidth),
    height: 300,
    padding: [8, 12, 0, 0],
    legend: LEGEND,
    cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false, distr: 3, range: () => [Math.max(100, x[0] * 0.9), x[x.length - 1] * 1.1] }, y: { range: () => [0, top * 1.05] } },
    axes: [
      axis({ values: (_, ticks) => ticks.map((t) => (t === null ? '' : time(t))), splits: (_u, _i, min, max) => logSplits(min, max), filter: (_u, ticks) => ticks, size: 28 }),
      axis({
        size: 76,
        splits: () => QUANTILES.map(nines).filter((y) => y <= top * 1.05),
        values: (_, ticks) => ticks.map((y) => (y === 0 ? '0' : `p${+(100 * (1 - 10 ** -y)).toFixed(4)}`)),
      }),
    ],
    series: [
      { label: 'at most', value: (_u, v, _i, at) => (at === null ? 'p50, p99' : v === null ? '' : time(v)) },
      ...shown.map((c) => ({
        label: c.label, stroke: c.colour, width: 1.8, points: { show: false }, ...(c.dash ? { dash: c.dash } : {}),
        paths: uPlot.paths.stepped!({ align: 1 }),
        // Where nothing is pointed at, the median and p99.
        value: (_u: uPlot, v: number | null, _i: number, at: number | null) => (at === null ? `${time(c.latency.summary.p50)}, ${time(c.latency.summary.p99)}` : v === null || v === undefined ? '' : percent(1 - 10 ** -v)),
      })),
    ],
  }, [x, ...lines] as uPlot.AlignedData, holder);
  register(u, holder);
  return u;
}

/** Sizes of requests, as rows of bars. */
export function sizes(holder: HTMLElement, captures: Capture[]): void {
  for (const capture of captures) {
    for (const kind of capture.sizes) {
      const most = Math.max(...kind.rows.map((r) => r[1]));
      const label = captures.length > 1 ? `${capture.label}: ${kind.name}` : kind.name;
      holder.append(el('div', { class: 'sizes' }, el('h4', {}, label),
        ...kind.rows.map(([upper, n, bytes]) => {
          const bar = el('span', { class: `bar c-${kind.class}` });
          bar.style.width = `calc((100% - 190px) * ${Math.max(0.01, n / most).toFixed(4)})`;
          return el('div', { class: 'size', title: `${size(bytes)} in all` }, el('span', { class: 'upper' }, `up to ${size(upper)}`), bar, ` ${count(n)}`);
        })));
    }
  }
}
