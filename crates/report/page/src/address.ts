// What is chosen stands in the address, after the #: a link leads to what one sees. t=12.3-12.9&task=fio

function all(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1));
}

export function inAddress(name: string): string | null {
  return all().get(name);
}

/** Sets some, takes out those that are null. */
export function address(changes: Record<string, string | null>): void {
  const now = all();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) now.delete(name); else now.set(name, value);
  }
  const text = now.toString();
  // Not every browser lets a page from a file change its address.
  try { history.replaceState(null, '', text ? `#${text}` : location.pathname + location.search); } catch { /* the link is then missing, the picture is not */ }
}
