// Numbers as the screen has them (crates/causes/src/words.rs): humane units, three digits at most.

function three(v: number): string {
  if (v >= 99.95) return v.toFixed(0);
  const text = v >= 9.995 ? v.toFixed(1) : v.toFixed(2);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
export function time(ns: number): string {
  if (ns < 1000) return `${Math.round(ns)} ns`;
  if (ns < 999_950) return `${three(ns / 1e3)} us`;
  if (ns < 999_500_000) return `${three(ns / 1e6)} ms`;
  return `${three(ns / 1e9)} s`;
}
export function size(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  let v = bytes / 1024, unit = 0;
  for (; v >= 1023.5 && unit < units.length - 1; unit++) v /= 1024;
  return `${three(v)} ${units[unit]}`;
}
export function count(n: number): string {
  return Math.round(n).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}
export function rate(n: number): string {
  return n >= 1000 ? count(n) : three(n);
}
export function percent(share: number): string {
  return `${three(share * 100)} %`;
}
/** A moment, in seconds; digits for the width of what is seen. */
export function seconds(s: number, span: number): string {
  const digits = Math.max(0, Math.min(9, 2 - Math.floor(Math.log10(Math.max(span, 1e-9)))));
  return s.toFixed(digits);
}
