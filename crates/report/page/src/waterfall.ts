// The slowest of what is seen, each with its time as a bar by reason; opened, down to its parts and events.

import { Capture, Line, Operation, Slow } from './data';
import { el, table, toggle } from './dom';
import { isSeen } from './filter';
import { count, seconds, size, time } from './format';
import { CLASS_WORDS } from './theme';
import { View } from './view';

const SHOWN = 12;

interface Row { kind: string; at: number; end: number; ns: number; what: string; who: string; task: string; device: string | null; parts: [string, number][]; open: () => HTMLElement }

export class Waterfall {
  private readonly rows: Row[];
  private readonly hidden = new Set<string>();
  private readonly list = el('div');
  private opened = new Set<Row>();
  private chosen = -1;
  private visible: { row: Row; node: HTMLDetailsElement }[] = [];

  constructor(holder: HTMLElement, captures: Capture[], private readonly words: Map<string, string>, private readonly view: View) {
    const several = captures.length > 1;
    this.rows = captures.flatMap((c) => {
      const label = several ? `${c.label}: ` : '';
      return [...c.operations.map((o) => this.operation(o, label)), ...c.slow.map((s) => this.request(s, label))];
    }).sort((a, b) => b.ns - a.ns);
    const operations = this.rows.some((r) => r.kind === '');
    // Requests of operations are hidden; where only requests were recorded, those for which nobody waits.
    const waited = new Set(captures.flatMap((c) => c.groups.filter((g) => g.tail_ns !== null).map((g) => g.class)));
    const kinds = [...new Set(this.rows.map((r) => r.kind))];
    const chips = el('p', { class: 'chips' });
    for (const kind of kinds) {
      const on = kind === '' || (!operations && (waited.size === 0 || waited.has(kind)));
      const words = kind === '' ? 'operations' : `${operations ? 'requests: ' : ''}${CLASS_WORDS[kind] ?? kind}`;
      if (!on) this.hidden.add(kind);
      if (kinds.length > 1) chips.append(toggle(words, on, (now) => { if (now) this.hidden.delete(kind); else this.hidden.add(kind); this.draw(); }));
    }
    holder.append(chips, this.list);
    view.onChange(() => this.draw());
    this.draw();
  }

  /** The next or the one before. */
  step(by: number): void {
    if (this.visible.length === 0) return;
    this.chosen = Math.max(0, Math.min(this.visible.length - 1, this.chosen + by));
    const { node } = this.visible[this.chosen];
    node.querySelector('summary')!.focus();
    node.scrollIntoView({ block: 'nearest' });
  }

  draw(): void {
    const { from, to } = this.view.stretch;
    const seen = this.rows.filter((r) => r.end >= from && r.end <= to && !this.hidden.has(r.kind) && isSeen(r)).slice(0, SHOWN);
    const most = Math.max(1, ...seen.map((r) => r.ns));
    this.chosen = -1;
    this.visible = seen.map((row) => {
      const bar = el('span', { class: 'bar' });
      for (const [reason, ns] of row.parts) {
        const part = el('span', { class: `r r-${reason}`, title: `${this.words.get(reason) ?? reason}: ${time(ns)}` });
        part.style.width = `${(ns / row.ns) * 100}%`;
        bar.append(part);
      }
      bar.style.width = `${Math.max(0.4, (row.ns / most) * 100)}%`;
      const node = el('details', { class: 'slow', 'data-task': row.task, 'data-device': row.device ?? '' }, el('summary', {},
        el('span', { class: 'ns' }, time(row.ns)), el('span', { class: 'what' }, row.what),
        el('span', { class: 'who' }, `${row.who}, at ${seconds(row.at, 0.001)} s`), el('span', { class: 'track' }, bar)));
      node.ontoggle = () => {
        if (node.open && node.children.length === 1) node.append(row.open());
        if (node.open) this.opened.add(row); else this.opened.delete(row);
      };
      if (this.opened.has(row)) node.open = true;
      return { row, node };
    });
    const none = el('p', {}, this.rows.length ? 'None of the slowest that were kept ended in this stretch.' : 'Nothing was completed.');
    this.list.replaceChildren(...(this.visible.length ? this.visible.map((v) => v.node) : [none]));
  }

  private link(at: number, ns: number): HTMLElement {
    const button = el('button', { type: 'button', class: 'chip' }, 'show this moment');
    const s = ns / 1e9;
    button.onclick = () => this.view.set(at - s * 0.5, at + s * 1.5);
    return button;
  }

  private request(s: Slow, label: string): Row {
    const what = s.op === 'flush' ? `${label}flush of ${s.device}` : `${label}${s.op} of ${size(s.bytes)} at sector ${s.sector} of ${s.device}`;
    const at = s.at_ns / 1e9;
    return {
      kind: s.class, at, end: (s.at_ns + s.ns) / 1e9, ns: s.ns, what, who: `${s.task} (tid ${s.tid})`, task: s.task, device: s.device, parts: s.segments,
      open: () => {
        const inner = el('div', { class: 'inner' });
        inner.append(table(['time', 'spent'], s.segments.map(([r, ns]) => [time(ns), this.words.get(r) ?? r]), { class: 'numbers' }));
        if (s.served > 0) inner.append(el('p', {}, `Meanwhile the device completed ${count(s.served)} others, ${size(s.served_bytes)}; ${count(s.ahead)} were there before it.`));
        inner.append(this.link(at, s.ns));
        if (s.events?.length) {
          const rows = steps(s.at_ns, s.events, ([t, action, sector, bytes, cpu, task, tid]) => [t, action, `${sector} + ${bytes / 512}`, String(cpu), `${task} (${tid})`]);
          inner.append(table(['at', 'after', 'event', 'sectors', 'cpu', 'task'], rows, { class: 'numbers events' }));
          if (s.events_left_out) inner.append(el('p', {}, `and ${count(s.events_left_out)} more events`));
        }
        return inner;
      },
    };
  }

  private operation(o: Operation, label: string): Row {
    const on = o.mount ?? o.device;
    return {
      kind: '', at: o.from_ns / 1e9, end: o.to_ns / 1e9, ns: o.total_ns, what: `${label}${o.op}${o.file ? ` of ${o.file}` : ''}${on ? ` on ${on}` : ''}`, who: `${o.task} (tid ${o.tid})`, task: o.task, device: o.device,
      parts: o.bars.length ? o.bars.map(([, ns, , reason]) => [reason, ns]) : o.by_reason.map((r) => [r.reason, r.ns]),
      open: () => {
        const inner = el('div', { class: 'inner' }, tree(o.lines), this.link(o.from_ns / 1e9, o.total_ns));
        if (o.events?.length) inner.append(el('details', { class: 'story' }, el('summary', {}, 'event by event'), events(o)));
        return inner;
      },
    };
  }
}

/** Rows of a table of events: when, how long after the one before, and what else is told of each. */
function steps<E>(from: number, all: E[], told: (event: E) => [number, ...string[]]): string[][] {
  let before = from;
  return all.map((event) => {
    const [at, ...rest] = told(event);
    const after = at - before;
    before = at;
    return [`${(at / 1e9).toFixed(6)} s`, `+${(after / 1e6).toFixed(6)} ms`, ...rest];
  });
}

function events(o: Operation): HTMLElement {
  const rows = steps(o.from_ns, o.events!, ([t, words, cpu, task, tid]) => [t, words, String(cpu), `${task} (${tid})`]);
  const more = [
    ...(o.events_left_out ? [`${count(o.events_left_out)} more events of it`] : []),
    ...(o.events_of_others ? [`${count(o.events_of_others)} events of other requests on the same devices`] : []),
  ];
  return el('div', {}, table(['at', 'after', 'event', 'cpu', 'task'], rows, { class: 'numbers events' }), more.length ? el('p', {}, `and ${more.join(', ')}`) : null);
}

function tree(lines: Line[]): HTMLElement {
  return el('ul', { class: 'tree' }, ...lines.map((l) => el('li', {},
    el('span', { class: 'ns' }, `${(l.shown_us / 1000).toFixed(3)} ms`), ` ${l.text}${l.note ? ` (${l.note})` : ''}`,
    l.lines?.length ? tree(l.lines) : null)));
}
