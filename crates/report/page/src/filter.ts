// Only some of those who waited, over the whole page: what says of whom it is (data-task, data-device, data-victim) is
// hidden if it is somebody else's. The choice stands in the address, as the stretch of time does.

import { address, inAddress } from './address';
import { el } from './dom';

const BY = ['victim', 'task', 'device'] as const;
type By = typeof BY[number];

type Of = Partial<Record<By, string | null>>;

const chosen: Partial<Record<By, string>> = {};
/** Whose the chosen victim is: what knows of no victims is told by these. */
let ofVictim: Of = {};

/** Whether something of these may be seen; what is not known of it does not hide it. */
export function isSeen(of: Of): boolean {
  const agrees = (by: By, wanted?: string | null) => !wanted || of[by] == null || of[by] === wanted;
  if (!BY.every((by) => agrees(by, chosen[by]))) return false;
  return of.victim != null || (agrees('task', ofVictim.task) && agrees('device', ofVictim.device));
}

/** Marks whose something is, and hides it if it is not asked about. */
export function mark(node: HTMLElement, of: Of): void {
  for (const by of BY) if (of[by] != null) node.dataset[by] = of[by]!;
  node.classList.toggle('filtered', !isSeen(of));
}

/** Puts the choices; `changed` is told of another choice, for what is drawn anew. */
export function filter(holder: HTMLElement, changed: () => void): void {
  const apply = () => {
    const victim = [...document.querySelectorAll<HTMLElement>('[data-victim]')].find((node) => node.dataset.victim === chosen.victim);
    ofVictim = victim ? { task: victim.dataset.task, device: victim.dataset.device } : {};
    for (const node of document.querySelectorAll<HTMLElement>('[data-victim], [data-task], [data-device]')) mark(node, node.dataset);
    changed();
  };
  const line = el('p', { class: 'chips filter' });
  for (const by of BY) {
    const all = [...document.querySelectorAll<HTMLElement>(`[data-${by}]`)].map((node) => node.dataset[by]!);
    const names = [...new Set(all)].filter((name) => name !== '');
    const told = inAddress(by);
    if (told && names.includes(told)) chosen[by] = told;
    if (names.length < 2) continue;
    const select = el('select', { 'aria-label': by }, el('option', { value: '' }, `every ${by}`), ...names.map((name) => el('option', { value: name }, name)));
    select.value = chosen[by] ?? '';
    select.onchange = () => {
      if (select.value) chosen[by] = select.value; else delete chosen[by];
      address({ [by]: select.value || null });
      apply();
    };
    line.append(select);
  }
  if (line.children.length) holder.append(line);
  apply();
}
