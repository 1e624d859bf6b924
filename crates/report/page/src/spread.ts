// How latencies and sizes are spread over the whole recording. The latency axis is logarithmic, and so is the tail: each
// line upwards is ten times rarer, so that p99.9 has as much room as p90.

import uPlot from 'uplot';
import { Capture, Latency, unpack } from './data';
import { el } from './dom';
import { count, percent, size, time } from './format';
import { axis, logSplits, register } from './plot';
import { COLOURS } from './theme';

const PHASES: Record<string, string> = {
  all: 'all', q2c: 'all of it (Q2C)', q2g: 'waiting for a request (Q2G)', g2i: 'until the scheduler (G2I)',
  i2d: 'in the scheduler (I2D)', d2c: 'in the device (D2C)',
};
const QUANTILES = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];
const nines = (q: number) => -Math.log10(1 - q);

interface Curve { label: string; latency: Latency; colour: string; dash?: number[] }

/** What is drawn of the captures: all of it, or the phases of one kind. */
function curves(captures: Capture[], chosen: string): Curve[] {
  const out: Curve[] = [];
  captures.forEach((capture, n) => {
    const whole = (l: Latency) => l.phase === 'all' || l.phase === 'q2c' || (l.phase === 'd2c' && !capture.latency.some((o) => o.name === l.name && o.phase === 'q2c'));
    const some = capture.latency.filter((l) => (chosen === '' ? whole(l) : l.name === chosen)).slice(0, 10);
    some.forEach((latency, i) => {
      const label = chosen === '' ? latency.name : PHASES[latency.phase] ?? latency.phase;
      out.push({
        label: captures.length > 1 ? `${capture.label}: ${label}` : label,
        latency, colour: COLOURS[i % COLOURS.length], ...(n > 0 ? { dash: [6, 3] } : {}),
      });
    });
  });
  return out;
}

export function cdf(holder: HTMLElement, captures: Capture[]): void {
  const names = [...new Set(captures.flatMap((c) => c.latency.map((l) => l.name)))];
  const select = el('select', { 'aria-label': 'which distribution' }, el('option', { value: '' }, 'all kinds, from beginning to end'),
    ...names.map((n) => el('option', { value: n }, `${n}, by phase`)));
  const plot = el('div');
  holder.append(el('p', { class: 'chips' }, select), plot);
  let u: uPlot | null = null;
  const draw = () => {
    u?.destroy();
    plot.replaceChildren();
    u = cdfChart(plot, curves(captures, select.value));
  };
  select.onchange = draw;
  draw();
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
      { label: 'at most', value: (_, v) => (v === null ? '' : time(v)) },
      ...shown.map((c) => ({
        label: c.label, stroke: c.colour, width: 1.8, points: { show: false }, ...(c.dash ? { dash: c.dash } : {}),
        paths: uPlot.paths.stepped!({ align: 1 }),
        value: (_u: uPlot, v: number) => (v === null || v === undefined ? '' : percent(1 - 10 ** -v)),
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
