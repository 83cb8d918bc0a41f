// Making and finding elements.

/** Where elements are found by their id: in the page, or in the part of it that a widget has. */
let scope: ShadowRoot | null = null;

/** Does something for which elements are those of this part of the page. */
export function inside<T>(root: ShadowRoot, work: () => T): T {
  scope = root;
  try {
    return work();
  } finally {
    scope = null;
  }
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = (scope ?? document).getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

export function make<K extends keyof HTMLElementTagNameMap>(tag: K, className = "", text?: string): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

export function button(className: string, text: string, pressed: () => void): HTMLButtonElement {
  const made = make("button", className, text);
  made.type = "button";
  made.addEventListener("click", pressed);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

export function vector<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string | number> = {}): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/** One of the symbols of the page. */
export function icon(name: string): SVGSVGElement {
  const made = vector("svg", { "aria-hidden": "true" });
  made.append(vector("use", { href: `#i-${name}` }));
  return made;
}

/** Hands the person a file. */
export function download(name: string, content: Blob): void {
  const link = make("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
