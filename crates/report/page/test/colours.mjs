// Colours that stand for different things are told apart by eyes of every kind, and heat maps read in grey too. Colours
// are compared as CIE 1976 L*a*b* after what a protanope, a deuteranope and a tritanope see of them (Machado, Oliveira and
// Fernandes 2009, severity 1).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const source = (name) => readFileSync(fileURLToPath(new URL(`../src/${name}`, import.meta.url)), 'utf8');
const theme = source('theme.ts'), spread = source('spread.ts');
const hexes = (text) => [...text.matchAll(/#[0-9a-f]{6}/g)].map((m) => m[0]);
const line = (start) => theme.slice(theme.indexOf(start), theme.indexOf('\n', theme.indexOf(start) + 40));

const EYES = {
  all: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanope: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranope: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanope: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};
/** Below this two colours look alike; 2.3 is what one just notices of colours side by side (Mahy and others 1994), and lines
 * are thin and apart. */
const ALIKE = 10;

const linear = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
const times = (m, v) => [0, 1, 2].map((i) => m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2]);
function lab(hex, eyes) {
  const rgb = times(EYES[eyes], linear(hex)).map((v) => Math.max(0, Math.min(1, v)));
  const xyz = times([0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.072175, 0.0193339, 0.119192, 0.9503041], rgb);
  const [x, y, z] = xyz.map((v, i) => v / [0.95047, 1, 1.08883][i]).map((t) => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
const apart = (a, b, eyes) => Math.hypot(...lab(a, eyes).map((v, i) => v - lab(b, eyes)[i]));

const sets = {
  'classes of requests': hexes(theme.slice(theme.indexOf('CLASS_COLOURS'), theme.indexOf('CLASS_WORDS'))),
  'tasks and kinds': hexes(line('export const COLOURS')),
  phases: hexes(spread.slice(spread.indexOf('const PHASES'), spread.indexOf('MOST_CURVES'))),
};
for (const [name, colours] of Object.entries(sets)) {
  assert.ok(colours.length >= 4, `${name}: ${colours}`);
  for (const eyes of Object.keys(EYES)) {
    colours.forEach((a, i) => colours.slice(i + 1).forEach((b) => {
      const far = apart(a, b, eyes);
      assert.ok(far >= ALIKE, `${name}: ${a} and ${b} are alike to ${eyes} (${far.toFixed(1)})`);
    }));
  }
}
const heat = theme.slice(theme.indexOf('const HEAT'), theme.indexOf('const ramps'));
for (const [scheme, sign] of [['light', -1], ['dark', 1]]) {
  const stops = hexes(heat.slice(heat.indexOf(`${scheme}: [`), heat.indexOf(']', heat.indexOf(`${scheme}: [`))));
  assert.equal(stops.length, 7);
  for (const eyes of Object.keys(EYES)) {
    stops.slice(1).forEach((stop, i) => {
      const step = sign * (lab(stop, eyes)[0] - lab(stops[i], eyes)[0]);
      assert.ok(step > 3, `${scheme}: ${stops[i]} to ${stop} is no step for ${eyes} (${step.toFixed(1)})`);
    });
  }
}
