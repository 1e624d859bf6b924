// A chart over time: its axis is the view's, dragging sets the view, the cursors of all such charts go together.

import uPlot from 'uplot';
import { seconds } from './format';
import { css, onScheme } from './theme';
import { View } from './view';

export interface TimeChart {
  height: number;
  view: View;
  series: uPlot.Series[];
  /** x in seconds, then the series, for what is seen. */
  data: () => uPlot.AlignedData;
  scaleY: uPlot.Scale;
  values: (v: number) => string;
  /** Values of the y axis where it is not uPlot's own choice. */
  splits?: (min: number, max: number) => number[];
  /** The number of a line over all that is seen. */
  whole?: (line: number) => number | null;
  /** Drawn beneath the lines. */
  beneath?: (u: uPlot) => void;
  /** Said beneath the cursor. */
  hover?: (u: uPlot, at: number) => string;
}

const SYNC = 'time';
const all: { u: uPlot; holder: HTMLElement }[] = [];

/** All charts take the width of what holds them. */
export function fit(): void {
  for (const { u, holder } of all.filter(({ u }) => u.root.isConnected)) {
    const width = holder.clientWidth;
    if (width > 0 && width !== u.width) u.setSize({ width, height: u.height });
  }
}

export function axis(extra: uPlot.Axis = {}): uPlot.Axis {
  return {
    stroke: () => css('--soft'),
    grid: { stroke: () => css('--grid'), width: 1 },
    ticks: { stroke: () => css('--grid'), width: 1, size: 4 },
    font: '12px system-ui, sans-serif',
    ...extra,
  };
}

/** The legend's samples are dashed where lines are. */
export const LEGEND: uPlot.Legend = { live: true, markers: { dash: (u, i) => (u.series[i].dash ? 'dashed' : 'solid') } };

export function register(u: uPlot, holder: HTMLElement): void {
  all.push({ u, holder });
  onScheme(() => {
    // Another may be in its place by now.
    if (!u.root.isConnected) return;
    u.redraw();
    u.root.querySelectorAll('.u-legend .u-series').forEach((row, i) => {
      const marker = row.querySelector<HTMLElement>('.u-marker'), { stroke } = u.series[i] ?? {};
      if (marker && typeof stroke === 'function') marker.style.borderColor = String(stroke(u, i));
    });
  });
}

/** What the legend says of a line where nothing is pointed at: its number over all that is seen, else how far it goes. */
function unpointed(u: uPlot, chart: TimeChart, i: number): string {
  if (chart.whole) {
    const all = chart.whole(i - 1);
    return all === null ? '' : chart.values(all);
  }
  const most = Math.max(...Array.from(u.data[i] ?? [], (v) => v ?? -Infinity));
  return Number.isFinite(most) ? `up to ${chart.values(most)}` : '';
}

export function timeChart(holder: HTMLElement, chart: TimeChart): uPlot {
  const { view } = chart;
  const tip = document.createElement('div');
  tip.className = 'tip';
  const u = new uPlot({
    width: Math.max(200, holder.clientWidth),
    height: chart.height,
    padding: [8, 12, 0, 0],
    legend: LEGEND,
    cursor: { sync: { key: SYNC, setSeries: false }, drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
    scales: { x: { time: false, range: () => [view.stretch.from, view.stretch.to] }, y: chart.scaleY },
    axes: [
      axis({ values: (_u, ticks, _a, _s, step) => ticks.map((t) => `${t.toFixed(digits(step))} s`), size: 28 }),
      axis({
        size: 76,
        filter: (_u, ticks) => ticks,
        values: (_, ticks) => ticks.map((t) => (t === null ? '' : chart.values(t))),
        ...(chart.splits ? { splits: (_u: uPlot, _i: number, min: number, max: number) => chart.splits!(min, max) } : {}),
      }),
    ],
    series: [
      { label: 'at', value: (_u, v, _i, at) => (at === null ? 'all that is seen' : v === null ? '' : `${seconds(v, view.span / 100)} s`) },
      ...chart.series.map((s) => ({ value: (u: uPlot, v: number | null, i: number, at: number | null) => (at === null ? unpointed(u, chart, i) : v === null || v === undefined ? '' : chart.values(v)), ...s })),
    ],
    hooks: {
      drawAxes: [(u) => chart.beneath?.(u)],
      setSelect: [(u) => {
        if (u.select.width < 3) return;
        const [from, to] = [u.select.left, u.select.left + u.select.width].map((x) => u.posToVal(x, 'x'));
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        view.set(from, to);
      }],
      setCursor: [(u) => {
        const { left, top } = u.cursor;
        const text = left === undefined || left < 0 || !u.over.matches(':hover') ? '' : chart.hover?.(u, u.posToVal(left, 'x')) ?? '';
        tip.textContent = text;
        tip.hidden = !text;
        if (text) {
          const right = left! > u.over.clientWidth / 2;
          tip.style.left = right ? '' : `${left! + 14}px`;
          tip.style.right = right ? `${u.over.clientWidth - left! + 14}px` : '';
          tip.style.top = `${Math.max(0, Math.min(top! - 10, u.over.clientHeight - 60))}px`;
        }
      }],
    },
  }, chart.data(), holder);
  u.over.append(tip);
  u.over.ondblclick = () => view.reset();
  tip.hidden = true;
  view.onChange(() => { if (u.root.isConnected) u.setData(chart.data(), true); });
  register(u, holder);
  return u;
}

/** Digits after the point that multiples of a step have. */
function digits(step: number): number {
  let n = 0;
  while (n < 9 && Math.abs(step * 10 ** n - Math.round(step * 10 ** n)) > 1e-6) n++;
  return n;
}

/** Clips what is drawn beneath to the plot. */
export function clipped(u: uPlot, draw: (c: CanvasRenderingContext2D) => void): void {
  const { left, top, width, height } = u.bbox;
  u.ctx.save();
  u.ctx.beginPath();
  u.ctx.rect(left, top, width, height);
  u.ctx.clip();
  draw(u.ctx);
  u.ctx.restore();
}

/** Powers of ten between two values; with few of them also their halves and fifths. */
export function logSplits(min: number, max: number): number[] {
  const splits: number[] = [];
  const fine = Math.log10(max / min) < 2.5;
  for (let e = Math.floor(Math.log10(min)); e <= Math.ceil(Math.log10(max)); e++) {
    for (const m of fine ? [1, 2, 5] : [1]) {
      const v = m * 10 ** e;
      if (v >= min * 0.999 && v <= max * 1.001) splits.push(v);
    }
  }
  return splits;
}

/** Four to eight round numbers of bytes: powers of two, or half-way between. */
export function binarySplits(min: number, max: number): number[] {
  let step = 2 ** Math.ceil(Math.log2(Math.max(1, (max - min) / 6)));
  if ((max - min) / step < 3) step /= 2;
  const splits: number[] = [];
  for (let v = Math.ceil(min / step) * step; v <= max; v += step) splits.push(v);
  return splits;
}
