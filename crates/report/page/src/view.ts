// The stretch of time that all charts show, in seconds since the first event. It stands in the address as #t=12.3-12.9,
// so that a link leads to a moment.

import { address, inAddress } from './address';

export interface Stretch { from: number; to: number }

export class View {
  private now: Stretch;
  private readonly listeners: (() => void)[] = [];
  private waiting = false;

  constructor(readonly full: Stretch) {
    this.now = { ...full };
    this.fromAddress();
    addEventListener('hashchange', () => { this.fromAddress(); this.tell(); });
  }
  get stretch(): Stretch { return this.now; }
  get span(): number { return this.now.to - this.now.from; }
  get isFull(): boolean { return this.now.from <= this.full.from && this.now.to >= this.full.to; }

  onChange(l: () => void): void { this.listeners.push(l); }

  set(from: number, to: number): void {
    const least = Math.max((this.full.to - this.full.from) * 1e-6, 1e-7);
    if (!(to - from >= least)) return;
    from = Math.max(this.full.from, from);
    to = Math.min(this.full.to, to);
    if (!(to - from >= least)) return;
    this.now = { from, to };
    const digits = Math.max(1, Math.min(9, 3 - Math.floor(Math.log10(to - from))));
    address({ t: this.isFull ? null : `${from.toFixed(digits)}-${to.toFixed(digits)}` });
    this.tell();
  }
  reset(): void { this.set(this.full.from, this.full.to); }

  /** Moves by a part of what is seen. */
  pan(by: number): void {
    const d = Math.max(this.full.from - this.now.from, Math.min(this.full.to - this.now.to, by * this.span));
    this.set(this.now.from + d, this.now.to + d);
  }
  /** Shows so many times as much. */
  zoom(by: number, at = (this.now.from + this.now.to) / 2): void {
    this.set(at - (at - this.now.from) * by, at + (this.now.to - at) * by);
  }

  private fromAddress(): void {
    const found = /^([\d.]+)-([\d.]+)$/.exec(inAddress('t') ?? '');
    const [from, to] = found ? [Number(found[1]), Number(found[2])] : [this.full.from, this.full.to];
    if (to > from) this.now = { from: Math.max(this.full.from, from), to: Math.min(this.full.to, to) };
    if (!(this.now.to > this.now.from)) this.now = { ...this.full };
  }
  private tell(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.listeners.forEach((l) => l()); });
  }
}
