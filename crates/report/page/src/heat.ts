// Latency over time: each cell says how many took so long then. Lines are percentiles of what is seen, in steps wide
// enough that each has some tens of operations.

import uPlot from 'uplot';
import { Capture, Columns, heatLower, Spread } from './data';
import { Mark, bands, marks } from './findings';
import { count, seconds, time } from './format';
import { clipped, logSplits, timeChart } from './plot';
import { css, ramp, scheme } from './theme';
import { View } from './view';

/** Operations in a step of the percentile lines, about. */
const OF_A_STEP = 40;
const MOST_STEPS = 160;

export function heatMap(holder: HTMLElement, columns: Columns, capture: Capture, view: View, range: [number, number], reasons: string[]): uPlot {
  const { group } = columns;
  const tail = group.tail_ns;
  const found = marks(columns, capture);
  return timeChart(holder, {
    height: 230,
    view,
    scaleY: { distr: 3, range: () => range },
    values: time,
    splits: logSplits,
    series: [
      { label: 'p50', stroke: () => css('--ink'), width: 1.5, points: { show: false } },
      { label: 'p99', stroke: () => css('--p99'), width: 1.5, points: { show: false } },
      { label: 'max', stroke: () => css('--p99'), width: 1, dash: [3, 3], points: { show: false } },
      // Only its words, in the legend: the line is drawn beneath, from side to side.
      ...(tail === null ? [] : [{ label: tailWords(columns, tail), class: 'fixed', stroke: () => css('--tail'), width: 1, dash: [6, 4], points: { show: false } }]),
    ],
    whole: (line) => {
      const [from, to] = columns.within(view.stretch.from * 1e9, view.stretch.to * 1e9);
      return line < 3 ? columns.spread(from, to).quantile([0.5, 0.99, 1][line]) : null;
    },
    data: () => {
      const drawn = lines(columns, view);
      return tail === null ? drawn : [...drawn, Array.from(drawn[0], () => null)] as uPlot.AlignedData;
    },
    beneath: (u) => clipped(u, (c) => {
      losses(u, c, capture);
      cells(u, c, columns, view);
      if (tail !== null) threshold(u, c, tail, found);
    }),
    hover: (u, at) => {
      const i = Math.floor((at * 1e9 - columns.first) / columns.step);
      if (!(i >= 0 && i < columns.done.length) || u.cursor.top === undefined) return '';
      const mark = found.find((m) => at >= m.from && at < m.to);
      const why = mark ? `\n${mark.cause ?? 'many of the slowest'}: the slowest waited ${reasons[mark.reason - 1] ?? ''}` : '';
      if (u.cursor.top < 8) return why.trim();
      const latency = u.posToVal(u.cursor.top, 'y');
      for (let j = columns.start[i]; j < columns.start[i + 1]; j++) {
        const [low, high] = [heatLower(columns.bucket[j]), heatLower(columns.bucket[j] + 1)];
        if (latency >= low && latency < high) {
          const from = (columns.first + i * columns.step) / 1e9, width = columns.step / 1e9;
          return `${count(columns.count[j])} of ${time(low)} to ${time(high)}\nended from ${seconds(from, width)} to ${seconds(from + width, width)} s${why}`;
        }
      }
      return why.trim();
    },
  });
}

/** The range of latencies of several maps, so that they can be compared. */
export function commonRange(all: Columns[]): [number, number] {
  const low = Math.min(...all.map((c) => c.range[0])), high = Math.max(...all.map((c) => c.range[1]));
  return [Math.max(100, low * 0.8), Math.max(1000, high * 1.2)];
}

function lines(columns: Columns, view: View): uPlot.AlignedData {
  const [from, to] = columns.within(view.stretch.from * 1e9, view.stretch.to * 1e9);
  let seen = 0;
  for (let i = from; i < to; i++) seen += columns.done[i];
  const steps = Math.max(1, Math.min(MOST_STEPS, Math.floor(seen / OF_A_STEP), to - from));
  const wide = Math.max(1, Math.ceil((to - from) / steps));
  const out: [number[], (number | null)[], (number | null)[], (number | null)[]] = [[], [], [], []];
  for (let i = from; i < to; i += wide) {
    const end = Math.min(to, i + wide);
    const spread: Spread = columns.spread(i, end);
    out[0].push((columns.first + ((i + end) / 2) * columns.step) / 1e9);
    [0.5, 0.99, 1].forEach((q, k) => (out[k + 1] as (number | null)[]).push(spread.quantile(q)));
  }
  return out;
}

function cells(u: uPlot, c: CanvasRenderingContext2D, columns: Columns, view: View): void {
  const colours = ramp(scheme());
  const [from, to] = columns.within(view.stretch.from * 1e9, view.stretch.to * 1e9);
  const top = Math.log1p(columns.most);
  const dot = devicePixelRatio || 1;
  for (let i = from; i < to; i++) {
    const begin = (columns.first + i * columns.step) / 1e9;
    const x = u.valToPos(begin, 'x', true);
    const width = Math.max(1.6 * dot, u.valToPos(begin + columns.step / 1e9, 'x', true) - x);
    for (let j = columns.start[i]; j < columns.start[i + 1]; j++) {
      const low = heatLower(columns.bucket[j]), high = heatLower(columns.bucket[j] + 1);
      const y = u.valToPos(high, 'y', true);
      const height = Math.max(2 * dot, u.valToPos(Math.max(low, 1), 'y', true) - y);
      c.fillStyle = colours[Math.min(63, Math.round((Math.log1p(columns.count[j]) / top) * 40 + 23))];
      c.fillRect(x, y, width, height);
    }
  }
}

/** Of fewer than a hundred the slowest is one. */
function tailWords(columns: Columns, tail: number): string {
  const few = columns.done.reduce((a, b) => a + b, 0) < 100;
  return `the slowest${few ? '' : ' 1 %'}: from ${time(tail)} on`;
}

/** Where the tail begins; at the upper edge, the moments in which it was. */
function threshold(u: uPlot, c: CanvasRenderingContext2D, tail: number, of: Mark[]): void {
  const { left, width } = u.bbox;
  const y = Math.round(u.valToPos(tail, 'y', true)) + 0.5;
  const dot = devicePixelRatio || 1;
  c.strokeStyle = css('--tail');
  c.setLineDash([6 * dot, 4 * dot]);
  c.beginPath();
  c.moveTo(left, y);
  c.lineTo(left + width, y);
  c.stroke();
  c.setLineDash([]);
  draw(u, c, of);
}

/** Marks at the upper edge. */
function draw(u: uPlot, c: CanvasRenderingContext2D, of: Mark[]): void {
  const dot = devicePixelRatio || 1;
  for (const mark of of) {
    const x = u.valToPos(mark.from, 'x', true);
    c.fillStyle = mark.colour ?? css('--tail');
    c.fillRect(x, u.bbox.top, Math.max(2 * dot, u.valToPos(mark.to, 'x', true) - x), 5 * dot);
  }
}

/** What every chart over time has beneath its lines: when events were lost, and the moments of the findings. */
export function moments(u: uPlot, c: CanvasRenderingContext2D, captures: Capture[]): void {
  captures.forEach((capture) => losses(u, c, capture));
  captures.forEach((capture) => draw(u, c, bands(capture)));
}

/** Seconds in which events were lost are shaded in every chart. */
function losses(u: uPlot, c: CanvasRenderingContext2D, capture: Capture): void {
  c.fillStyle = css('--lost');
  for (const [from, to] of capture.losses) {
    const x = u.valToPos(from / 1e9, 'x', true);
    c.fillRect(x, u.bbox.top, u.valToPos(to / 1e9, 'x', true) - x, u.bbox.height);
  }
}
