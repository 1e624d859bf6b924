// Who touched where: requests by time and place on the device. Tasks have colours; reads are squares, writes crosses.

import uPlot from 'uplot';
import { Capture, Place, unpack } from './data';
import { toggle } from './dom';
import { count, size } from './format';
import { moments } from './heat';
import { binarySplits, clipped, timeChart } from './plot';
import { COLOURS, OTHERS } from './theme';
import { View } from './view';

/** Tasks of all devices, the busiest first: a task has one colour on all of them, for its reads and its writes. */
export function tasksOf(captures: Capture[]): string[] {
  const requests = new Map<string, number>();
  for (const { task, requests: n } of captures.flatMap((c) => c.places).flatMap((p) => p.who)) requests.set(task, (requests.get(task) ?? 0) + n);
  return [...requests.keys()].sort((a, b) => requests.get(b)! - requests.get(a)!);
}

export function placeChart(holder: HTMLElement, chips: HTMLElement, place: Place, capture: Capture, tasks: string[], view: View): uPlot {
  const cells = unpack(place.cells);
  const rowBytes = Number(place.row_bytes);
  const low = place.first_row * rowBytes, high = low + place.rows * rowBytes;
  const step = 2 ** place.time_shift / 1e9, first = place.first_ns / 1e9;
  const shown = place.who.map(() => true);
  const colour = (who: number) => COLOURS[tasks.indexOf(place.who[who].task)] ?? OTHERS;

  const draw = (u: uPlot, c: CanvasRenderingContext2D) => {
    const dot = devicePixelRatio || 1;
    const width = Math.max(2.2 * dot, u.valToPos(step, 'x', true) - u.valToPos(0, 'x', true));
    const height = Math.max(2.2 * dot, u.valToPos(low, 'y', true) - u.valToPos(low + rowBytes, 'y', true));
    let column = 0;
    c.lineWidth = 1.2 * dot;
    for (let i = 0; i < cells.length; i += 4) {
      column += cells[i];
      const t = first + column * step;
      if (t + step < view.stretch.from || t > view.stretch.to || !shown[cells[i + 2]]) continue;
      const x = u.valToPos(t, 'x', true), y = u.valToPos(low + (cells[i + 1] + 1) * rowBytes, 'y', true);
      const who = cells[i + 2];
      if (place.who[who].writes) {
        c.strokeStyle = colour(who);
        const w = Math.max(width, 4 * dot), h = Math.max(height, 4 * dot);
        c.beginPath();
        c.moveTo(x, y); c.lineTo(x + w, y + h);
        c.moveTo(x + w, y); c.lineTo(x, y + h);
        c.stroke();
      } else {
        c.fillStyle = colour(who);
        c.fillRect(x, y, width, height);
      }
    }
  };
  const u = timeChart(holder, {
    height: 280,
    view,
    scaleY: { range: () => [low - rowBytes, high + rowBytes] },
    values: size,
    splits: binarySplits,
    series: [],
    data: () => [[view.stretch.from, view.stretch.to]],
    beneath: (u) => clipped(u, (c) => { moments(u, c, [capture]); draw(u, c); }),
    hover: (u, at) => {
      const column = Math.floor((at - first) / step), top = u.cursor.top;
      if (top === undefined) return '';
      const row = Math.floor((u.posToVal(top, 'y') - low) / rowBytes);
      const found: string[] = [];
      let seen = 0;
      for (let i = 0; i < cells.length; i += 4) {
        seen += cells[i];
        if (Math.abs(seen - column) <= 1 && Math.abs(cells[i + 1] - row) <= 1) {
          const who = place.who[cells[i + 2]];
          found.push(`${who.task}: ${count(cells[i + 3])} ${who.writes ? 'written' : 'read'}`);
        }
        if (seen > column + 1) break;
      }
      return found.length ? `at ${size(low + row * rowBytes)}\n${found.slice(0, 6).join('\n')}` : '';
    },
  });
  place.who.forEach((who, i) => {
    if (i >= 14) return;
    const label = `${who.writes ? '\u00d7' : '\u25a0'} ${who.task} ${who.writes ? 'writes' : 'reads'} (${count(who.requests)})`;
    chips.append(toggle(label, true, (on) => { shown[i] = on; u.redraw(); }, colour(i)));
  });
  return u;
}
