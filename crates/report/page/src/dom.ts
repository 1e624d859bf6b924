// Elements. Text is always set as text: names in recordings are whatever somebody called them.

type Child = Node | string | null | false;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Record<string, string> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  for (const child of children) if (child) node.append(child);
  return node;
}

/** A button that is either pressed or not. */
export function toggle(label: string, on: boolean, change: (on: boolean) => void, colour?: string): HTMLButtonElement {
  const button = el('button', { type: 'button', class: 'chip', 'aria-pressed': String(on) });
  if (colour) {
    const dot = el('i');
    dot.style.background = colour;
    button.append(dot);
  }
  button.append(label);
  button.onclick = () => {
    const now = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(now));
    change(now);
  };
  return button;
}

export function table(head: string[], rows: (Child | string)[][], attributes: Record<string, string> = {}): HTMLTableElement {
  return el('table', attributes,
    el('thead', {}, el('tr', {}, ...head.map((h) => el('th', {}, h)))),
    el('tbody', {}, ...rows.map((r) => el('tr', {}, ...r.map((c) => el('td', {}, c))))));
}
