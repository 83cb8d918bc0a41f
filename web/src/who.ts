// Who is at the page: a name that people may give, kept in the browser and sent with what they do.

const KEY = "lion-who";

export function who(): string | null {
  try {
    return localStorage.getItem(KEY) || null;
  } catch {
    return null;
  }
}

export function setWho(name: string): void {
  try {
    localStorage.setItem(KEY, name.trim());
  } catch {
    // Storage may be forbidden; then nobody is named.
  }
}
