// Commands are there to be copied.

import { el } from './dom';

/** How long a button says that it did. */
const SAID_MS = 1500;

export function copyButtons(): void {
  for (const code of document.querySelectorAll<HTMLElement>('code.command')) {
    const button = el('button', { type: 'button', class: 'chip copy' }, 'copy');
    button.onclick = async () => {
      button.textContent = (await copied(code)) ? 'copied' : 'selected';
      setTimeout(() => { button.textContent = 'copy'; }, SAID_MS);
    };
    code.after(' ', button);
  }
}

/** A page from a file may have no clipboard: then the command is selected, and a key copies it. */
async function copied(code: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(code.textContent!);
    return true;
  } catch {
    getSelection()?.selectAllChildren(code);
    return document.execCommand('copy');
  }
}
