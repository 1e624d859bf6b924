// When what was found did its harm. A moment is marked if much of what ended in it belongs to the slowest 1 %; it is a
// finding's if the slowest of them spent most of its time for a reason that the finding explains in that group. Buckets
// are counted whole, so there must be a reason too: a moment has one only if its slowest is known to belong to the tail.

import { Capture, Columns, heatLower } from './data';
import { COLOURS } from './theme';

/** Ten times what would be by chance. */
const MARKED = 0.1;

export interface Mark { from: number; to: number; cause: string | null; colour: string | null; reason: number }

/** The marked moments of a group, in seconds. */
export function marks(columns: Columns, capture: Capture): Mark[] {
  const tail = columns.group.tail_ns;
  if (tail === null) return [];
  const place = capture.groups.indexOf(columns.group);
  const out: Mark[] = [];
  for (let i = 0; i < columns.done.length; i++) {
    const reason = columns.why[i] ?? 0;
    if (reason === 0) continue;
    let slow = 0;
    for (let j = columns.start[i + 1] - 1; j >= columns.start[i] && heatLower(columns.bucket[j] + 1) > tail; j--) slow += columns.count[j];
    if (slow < MARKED * columns.done[i]) continue;
    const finding = capture.findings.findIndex((f) => f.moments.some(([g, r]) => g === place && r === reason));
    out.push({
      from: (columns.first + i * columns.step) / 1e9, to: (columns.first + (i + 1) * columns.step) / 1e9, reason,
      cause: finding < 0 ? null : capture.findings[finding].cause, colour: finding < 0 ? null : colour(capture, finding),
    });
  }
  return out;
}

const banded = new WeakMap<Capture, Mark[]>();

/** The moments of all findings of a capture, whosever operations they are. */
export function bands(capture: Capture): Mark[] {
  let all = banded.get(capture);
  if (!all) {
    all = capture.groups.flatMap((group) => marks(new Columns(group, capture), capture)).filter((m) => m.cause !== null);
    banded.set(capture, all);
  }
  return all;
}

/** The causes of a moment, in words. */
export function causesAt(captures: Capture[], at: number): string {
  const causes = captures.flatMap((capture) => bands(capture).filter((m) => at >= m.from && at < m.to).map((m) => m.cause));
  return [...new Set(causes)].join(', ');
}

/** A finding has the same colour in all captures: causes by their order in the first capture that has them. */
const order: string[] = [];
function colour(capture: Capture, finding: number): string {
  const { cause } = capture.findings[finding];
  if (!order.includes(cause)) order.push(cause);
  // Not the first ones, which are those of reads and of write-back.
  return COLOURS[(order.indexOf(cause) + 3) % COLOURS.length];
}

/** The causes that were marked so far, with their colours; last what no finding explains. */
export function marked(captures: Capture[], all: Columns[][]): { cause: string; colour: string }[] {
  const found = new Map<string, string>();
  let others = false;
  captures.forEach((capture, n) => all[n].forEach((columns) => marks(columns, capture).forEach((m) => {
    if (m.cause && m.colour) found.set(m.cause, m.colour);
    else others = true;
  })));
  const legend = [...found].map(([cause, colour]) => ({ cause, colour }));
  return others ? [...legend, { cause: 'no finding', colour: 'var(--tail)' }] : legend;
}
