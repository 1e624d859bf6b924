// What was done each moment: throughput, requests a second, requests in the device, by kind; and what the kernel did
// meanwhile on its own: commits, write-back, memory.

import uPlot from 'uplot';
import { Capture, Columns } from './data';
import { percent, rate, size } from './format';
import { causesAt } from './findings';
import { moments } from './heat';
import { binarySplits, clipped, timeChart } from './plot';
import { CLASS_COLOURS, CLASS_WORDS, COLOURS } from './theme';
import { View } from './view';

/** Steps that are drawn; more would be noise. */
const MOST_STEPS = 260;

export interface Row { label: string; columns: Columns; colour: string; dash?: number[] }

/** Rows of a device, by class; of further captures dashed. */
export function deviceRows(captures: Capture[], all: Columns[][], device: string | null): Row[] {
  const rows: Row[] = [];
  captures.forEach((capture, n) => {
    for (const columns of all[n]) {
      const { group } = columns;
      if (group.level !== 'request' || (device !== null && group.device !== device)) continue;
      if (device === null && group.device !== capture.groups.find((g) => g.level === 'request')?.device) continue;
      const label = CLASS_WORDS[group.class] ?? group.class;
      rows.push({
        label: captures.length > 1 ? `${capture.label}: ${label}` : label,
        columns, colour: CLASS_COLOURS[group.class] ?? '#888', ...(n > 0 ? { dash: [5, 3] } : {}),
      });
    }
  });
  return rows;
}

type Measure = (columns: Columns, from: number, to: number) => number;
const sum = (values: number[], from: number, to: number) => {
  let s = 0;
  for (let i = from; i < to; i++) s += values[i] ?? 0;
  return s;
};
export const MEASURES: Record<string, { title: string; of: Measure; values: (v: number) => string }> = {
  throughput: { title: 'Throughput', of: (c, a, b) => sum(c.bytes, a, b) / (((b - a) * c.step) / 1e9), values: (v) => `${size(v)}/s` },
  iops: { title: 'Completed a second', of: (c, a, b) => sum(c.done, a, b) / (((b - a) * c.step) / 1e9), values: rate },
  depth: { title: 'In the device', of: (c, a, b) => sum(c.depth, a, b) / (b - a), values: rate },
  under_way: { title: 'Under way', of: (c, a, b) => sum(c.depth, a, b) / (b - a), values: rate },
};

export function rateChart(holder: HTMLElement, rows: Row[], measure: string, captures: Capture[], view: View): uPlot {
  const { of, values } = MEASURES[measure];
  return timeChart(holder, {
    height: 150,
    view,
    scaleY: { range: (_u, _min, max) => [0, max > 0 ? max * 1.08 : 1] },
    values,
    ...(measure === 'throughput' ? { splits: binarySplits } : {}),
    series: rows.map((r) => ({
      label: r.label, stroke: r.colour, width: 1.6, points: { show: false }, ...(r.dash ? { dash: r.dash } : {}),
      ...(rows.length === 1 ? { fill: r.colour + '22' } : {}),
    })),
    data: () => steps(rows, of, view),
    beneath: (u) => clipped(u, (c) => moments(u, c, captures)),
    hover: (_u, at) => causesAt(captures, at),
  });
}

/** Rows begin at their own first column; all are put on one grid of times. */
function steps(rows: Row[], of: Measure, view: View): uPlot.AlignedData {
  const step = Math.max(...rows.map((r) => r.columns.step));
  const [from, to] = [view.stretch.from * 1e9, view.stretch.to * 1e9];
  const wide = step * Math.max(1, Math.ceil((to - from) / step / MOST_STEPS));
  const times: number[] = [];
  for (let t = Math.floor(from / wide) * wide; t < to; t += wide) times.push(t);
  const value = (columns: Columns, t: number) => {
    const begin = (t - columns.first) / columns.step, n = wide / columns.step;
    const a = Math.max(0, Math.round(begin)), b = Math.min(columns.done.length, Math.round(begin + n));
    // The first and the last step may reach beyond the recording.
    const recorded = Math.min(t + wide, view.full.to * 1e9) - Math.max(t, 0);
    return b > a && recorded > 0 ? (of(columns, a, b) * (b - a) * columns.step) / recorded : 0;
  };
  return [times.map((t) => (t + wide / 2) / 1e9), ...rows.map((r) => times.map((t) => value(r.columns, t)))];
}

/** What was sampled of memory, a second each. */
export function memoryChart(holder: HTMLElement, capture: Capture, view: View): uPlot | null {
  const { memory } = capture;
  if (memory.at_ns.length < 2) return null;
  const data = [memory.at_ns.map((t) => t / 1e9), memory.dirty, memory.writeback] as uPlot.AlignedData;
  return timeChart(holder, {
    height: 130,
    view,
    scaleY: { range: (_u, _min, max) => [0, max > 0 ? max * 1.08 : 1] },
    values: size,
    splits: binarySplits,
    series: [
      { label: 'changed in memory (Dirty)', stroke: COLOURS[1], width: 1.6, points: { show: false } },
      { label: 'being written back (Writeback)', stroke: COLOURS[2], width: 1.6, points: { show: false } },
    ],
    data: () => data,
    beneath: (u) => clipped(u, (c) => moments(u, c, [capture])),
    hover: (_u, at) => {
      const i = memory.at_ns.findIndex((t) => t >= at * 1e9);
      const stalled = i < 0 ? null : memory.io_stalled[i];
      return stalled === null ? '' : `some task was stalled on I/O for ${percent(stalled / 1000)} of that second`;
    },
  });
}
