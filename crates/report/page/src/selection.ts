// What is seen, in numbers: of each kind its own percentiles.

import { Capture, Columns } from './data';
import { el, table } from './dom';
import { count, seconds, size, time } from './format';
import { View } from './view';

export function selection(holder: HTMLElement, captures: Capture[], all: Columns[][], view: View): void {
  const title = el('p');
  const body = el('div');
  const button = (label: string, key: string, act: () => void) => {
    const b = el('button', { type: 'button', class: 'chip', title: `key: ${key}` }, label);
    b.onclick = act;
    return b;
  };
  const buttons = el('span', { class: 'buttons' }, button('\u2190', 'Left', () => view.pan(-0.4)), button('\u2192', 'Right', () => view.pan(0.4)),
    button('+', '+', () => view.zoom(0.5)), button('\u2212', '-', () => view.zoom(2)), button('all', 'Esc', () => view.reset()),
    button('its slowest', 'j', () => document.querySelector('.slowest')?.scrollIntoView()));
  holder.append(el('div', { class: 'seen' }, title, buttons), body);
  const draw = () => {
    const { from, to } = view.stretch;
    title.textContent = view.isFull
      ? 'The whole recording. Drag across any picture to select a part; its numbers appear here.'
      : `From ${seconds(from, view.span)} s to ${seconds(to, view.span)} s (${time(view.span * 1e9)}):`;
    const rows = captures.flatMap((capture, n) => all[n].map((columns) => {
      const [a, b] = columns.within(from * 1e9, to * 1e9);
      const name = captures.length > 1 ? `${capture.label}: ${columns.group.name}` : columns.group.name;
      // Of the whole recording there are exact numbers.
      // (The kernel's own flushes are never queued: of them, the time in the device.)
      const phase = (wanted: string) => capture.latency.find((l) => l.name === columns.group.name && l.phase === wanted);
      const whole = view.isFull ? phase('all') ?? phase('q2c') ?? phase('d2c') : undefined;
      const spread = columns.spread(a, b);
      if (spread.total === 0) return null;
      const bytes = columns.bytes.slice(a, b).reduce((x, y) => x + y, 0);
      const s = whole?.summary;
      const values = s ? [s.p50, s.p99, s.p999, s.max] : [0.5, 0.99, 0.999, 1].map((q) => spread.quantile(q) ?? 0);
      return [name, count(spread.total), bytes > 0 ? size(bytes) : '', ...values.map(time)];
    })).filter((r): r is string[] => r !== null).slice(0, 24);
    body.replaceChildren(table(['ended in what is seen', 'how many', 'moved', 'p50', 'p99', 'p99.9', 'max'], rows, { class: 'numbers' }),
      el('p', { class: 'small' }, 'Percentiles of a part are right to 3 %, its ends to one column of the pictures; those of the whole recording to 0.8 %.'));
  };
  view.onChange(draw);
  draw();
}
