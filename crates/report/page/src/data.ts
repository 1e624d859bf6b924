// What crates/report/src/html/data writes: schema iowhy.page/1.

export interface Group {
  name: string; level: string; device?: string; kind?: string; op: string; class: string;
  tail_ns: number | null; matters: boolean; waited_for?: boolean;
  first_ns: number; columns: number; heat: string; bytes: string; depth: string; why?: string; what?: string;
}
/** A finding; its moments are those of a group (a place in groups) whose slowest waited for a reason (counted from 1). */
export interface Finding { cause: string; share: number; moments: [number, number][] }
export interface Summary { min: number; mean: number; p50: number; p90: number; p99: number; p999: number; max: number; count: number }
export interface OpNumbers { scope: string; name: string; op: string; level: string; count: number; bytes: number; latency_ns: Summary; device?: string }
export interface Slow {
  at_ns: number; ns: number; device: string; op: string; class: string; sector: number; bytes: number; task: string; tid: number;
  segments: [string, number][]; served: number; served_bytes: number; ahead: number;
  events_left_out?: number;
  events?: [number, string, number, number, number, string, number][];
}
export interface Line { ns: number; shown_us: number; text: string; reason?: string; note?: string; lines?: Line[] }
export interface Operation {
  op: string; task: string; tid: number; filesystem: string; device: string | null; mount: string | null; file: string | null; result: number;
  from_ns: number; to_ns: number; total_ns: number; by_reason: { reason: string; ns: number }[];
  lines: Line[]; bars: [number, number, number, string][];
  events_left_out?: number; events_of_others?: number;
  events?: [number, string, number, string, number][];
}
export interface Place {
  device: string; time_shift: number; first_ns: number; row_bytes: string; first_row: number; rows: number;
  who: { task: string; writes: boolean; requests: number }[]; cells: string;
}
export interface Latency { name: string; phase: string; count: number; max: number; buckets: string; summary: Summary }
export interface Capture {
  label: string; span_ns: number; step_shift: number;
  explain: { operations: OpNumbers[]; quality: { verdict: string } };
  groups: Group[]; behind: Group[]; findings: Finding[]; quality: [string, number | null, string][]; places: Place[]; slow: Slow[]; operations: Operation[]; latency: Latency[];
  sizes: { name: string; class: string; rows: [number, number, number][] }[];
  settings: { name: string; rows: [string, string, string][] }[];
  losses: [number, number, number, string][];
  memory: { at_ns: number[]; dirty: (number | null)[]; writeback: (number | null)[]; io_stalled: (number | null)[] };
  left_out: string[];
}
export interface Page { schema: string; version: string; reasons: [string, string][]; captures: Capture[] }

/** Numbers of a packed text (LEB128 in base64); see pack.rs. */
export function unpack(text: string): number[] {
  const bytes = atob(text);
  const numbers: number[] = [];
  let n = 0, scale = 1;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes.charCodeAt(i);
    n += (byte & 127) * scale;
    if (byte & 128) scale *= 128;
    else { numbers.push(n); n = 0; scale = 1; }
  }
  return numbers;
}

/** The smallest latency of a bucket of a heat map; see heat.rs. */
export function heatLower(bucket: number): number {
  const forgotten = Math.max(0, Math.floor(bucket / 16) - 1);
  return (bucket - forgotten * 16) * 2 ** forgotten;
}

/** A row of columns, unpacked: of column i the buckets are those from start[i] to start[i + 1]. */
export class Columns {
  readonly start: number[] = [];
  readonly bucket: number[] = [];
  readonly count: number[] = [];
  readonly done: number[] = [];
  readonly bytes: number[];
  readonly depth: number[];
  /** Where most of the slowest one's time went: a reason's place in all, from 1. */
  readonly why: number[];
  readonly step: number;
  readonly first: number;
  readonly most: number;
  readonly range: [number, number];

  constructor(readonly group: Group, capture: Capture) {
    const heat = unpack(group.heat);
    this.step = 2 ** capture.step_shift;
    this.first = group.first_ns;
    let most = 1, least = Infinity, greatest = 0;
    for (let i = 0; i < heat.length;) {
      this.start.push(this.bucket.length);
      let bucket = 0, done = 0;
      for (let n = heat[i++]; n > 0; n--) {
        bucket += heat[i++];
        const count = heat[i++];
        this.bucket.push(bucket);
        this.count.push(count);
        done += count;
        most = Math.max(most, count);
        least = Math.min(least, bucket);
        greatest = Math.max(greatest, bucket);
      }
      this.done.push(done);
    }
    this.start.push(this.bucket.length);
    this.bytes = unpack(group.bytes);
    this.depth = unpack(group.depth).map((d) => d / 1000);
    this.why = group.why ? unpack(group.why) : [];
    this.most = most;
    this.range = [heatLower(least === Infinity ? 0 : least), heatLower(greatest + 1)];
  }

  /** The columns that lie between two times, as indices: from, and to without it. */
  within(from: number, to: number): [number, number] {
    const clamp = (i: number) => Math.max(0, Math.min(this.done.length, i));
    return [clamp(Math.floor((from - this.first) / this.step)), clamp(Math.ceil((to - this.first) / this.step))];
  }

  /** Latencies of the columns [from, to): how many of each bucket. */
  spread(from: number, to: number): Spread {
    const spread = new Spread();
    for (let i = this.start[from]; i < this.start[to]; i++) spread.add(this.bucket[i], this.count[i]);
    return spread;
  }
}

/** Counts by bucket. */
export class Spread {
  private readonly counts = new Map<number, number>();
  total = 0;
  add(bucket: number, n: number): void {
    this.counts.set(bucket, (this.counts.get(bucket) ?? 0) + n);
    this.total += n;
  }
  /** The latency that a part q of all do not exceed, by nearest rank: the middle of its bucket. */
  quantile(q: number): number | null {
    if (this.total === 0) return null;
    const rank = Math.max(1, Math.ceil(q * this.total - 1e-9));
    let seen = 0;
    for (const bucket of [...this.counts.keys()].sort((a, b) => a - b)) {
      seen += this.counts.get(bucket)!;
      if (seen >= rank) return (heatLower(bucket) + heatLower(bucket + 1)) / 2;
    }
    return null;
  }
}
