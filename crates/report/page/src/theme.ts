// Colours. Lines have those of Okabe and Ito, and two more, which eyes of every kind tell apart (test/colours.mjs); heat maps go from pale to dark (on
// dark: from dark to bright) in a scale whose lightness grows evenly, so that they also read in grey.

export type Scheme = 'light' | 'dark';

export const CLASS_COLOURS: Record<string, string> = {
  read: '#0072b2', 'sync-write': '#d55e00', background: '#e69f00', flush: '#cc79a7', other: '#009e73',
};
export const CLASS_WORDS: Record<string, string> = {
  read: 'reads', 'sync-write': 'synchronous writes', background: 'writeback', flush: 'flushes', other: 'discards and commands',
};
/** For things without an order: tasks. */
export const COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#d55e00', '#56b4e9', '#8822dd', '#774422'];
export const OTHERS = '#8a8a8a';

const HEAT: Record<Scheme, string[]> = {
  light: ['#dcebd0', '#a9d8b8', '#5fbcc0', '#2e8fbf', '#2462a5', '#1f3b82', '#0f1a4d'],
  dark: ['#274b8f', '#3a6ab0', '#4f8fc0', '#7fb0a8', '#b9c46b', '#f0d83a', '#fff68f'],
};
const ramps = new Map<Scheme, string[]>();

/** 64 colours, from few to many. */
export function ramp(scheme: Scheme): string[] {
  let made = ramps.get(scheme);
  if (!made) {
    const stops = HEAT[scheme].map((c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)));
    made = Array.from({ length: 64 }, (_, i) => {
      const at = (i / 63) * (stops.length - 1), low = Math.min(stops.length - 2, Math.floor(at));
      return `rgb(${stops[low].map((v, c) => Math.round(v + (stops[low + 1][c] - v) * (at - low))).join(',')})`;
    });
    ramps.set(scheme, made);
  }
  return made;
}

let asked: Scheme | null = null;
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const listeners: (() => void)[] = [];

export function scheme(): Scheme {
  return asked ?? (prefersDark.matches ? 'dark' : 'light');
}
export function setScheme(to: Scheme | null): void {
  asked = to;
  if (to) document.documentElement.dataset.scheme = to;
  else delete document.documentElement.dataset.scheme;
  listeners.forEach((l) => l());
}
export function onScheme(l: () => void): void {
  listeners.push(l);
}
export function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
prefersDark.addEventListener('change', () => setScheme(asked));
// Paper is white.
let before: Scheme | null = null;
addEventListener('beforeprint', () => { before = asked; setScheme('light'); });
addEventListener('afterprint', () => setScheme(before));
