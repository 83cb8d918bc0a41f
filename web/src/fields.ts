// What people read of a row: the columns that the map keeps for them, and the row's own values.

import { button, make } from "./dom";
import type { NamedValue, ShownField } from "./types";
import { legible, short } from "./words";

/** Letters of a text in the card, before one asks for all. */
const CUT = 280;
/** Values in the card; a row has the most telling columns first or none is. */
const VALUES = 12;

export const isLink = (value: unknown): value is string => typeof value === "string" && /^https?:\/\/\S+$/i.test(value.trim());

/** A text of at most so many letters. */
export const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 1).trimEnd()}…` : text);

/** The fields that have a value: the first text is the title, the others follow in their order. */
export function titled(fields: readonly ShownField[]): { title: ShownField | null; rest: ShownField[] } {
  const there = fields.filter(({ value }) => value !== null && value !== "");
  const title = there.find(({ kind, value }) => kind === "text" && !isLink(value)) ?? null;
  return { title, rest: there.filter((field) => field !== title) };
}

/** A field as a kernel may give it: a name and a text. */
export type ShownPair = readonly [string, string];
const asField = (field: ShownField | ShownPair): ShownField =>
  "kind" in field ? field : { name: field[0], kind: "text", value: field[1] };

/** The fields of a row as elements. Texts are data: nothing of them becomes markup. */
export function shownFields(fields: readonly (ShownField | ShownPair)[], resized: () => void): HTMLElement | null {
  const { title, rest } = titled(fields.map(asField));
  if (!title && rest.length === 0) return null;
  const box = make("div", "shown");
  if (title) box.append(text(String(title.value), "strong", resized));
  for (const field of rest) {
    const line = make("p");
    line.append(make("small", "", `${field.name} `), value(field, resized));
    box.append(line);
  }
  return box;
}

function value({ kind, value, name }: ShownField, resized: () => void): HTMLElement {
  if (kind === "image") return image(String(value), name, resized);
  if (isLink(value)) {
    const link = make("a", "", cut(value.trim(), 60));
    link.href = value.trim();
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    return link;
  }
  return text(typeof value === "number" ? String(value) : String(value ?? ""), "span", resized);
}

/** A text, and where it is long a button for the rest of it. */
function text(whole: string, tag: "span" | "strong", resized: () => void): HTMLElement {
  const words = make(tag, "text", cut(whole, CUT));
  if (whole.length <= CUT) return words;
  const box = make("span");
  const more = button("more", "Show all", () => {
    const all = words.textContent === whole;
    words.textContent = all ? cut(whole, CUT) : whole;
    more.textContent = all ? "Show all" : "Show less";
    resized();
  });
  box.append(words, more);
  return box;
}

function image(base64: string, name: string, resized: () => void): HTMLElement {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const made = make("img");
  made.alt = name;
  // Browsers tell every kind but SVG by its bytes.
  const svg = String.fromCharCode(...bytes.subarray(0, 100)).trimStart().startsWith("<");
  const url = URL.createObjectURL(new Blob([bytes], { type: svg ? "image/svg+xml" : "" }));
  const done = () => (URL.revokeObjectURL(url), resized());
  made.addEventListener("load", done);
  made.addEventListener("error", () => (done(), made.replaceWith(make("span", "", "an image that cannot be shown"))));
  made.src = url;
  return made;
}

/** The row's own values by name. */
export function ownValues(values: readonly NamedValue[] | null): HTMLElement | null {
  if (!values || values.length === 0) return null;
  const list = make("dl", "values");
  for (const { name, value } of values.slice(0, VALUES)) list.append(make("dt", "", legible(name)), make("dd", "", typeof value === "number" ? short(value) : legible(String(value ?? "–"))));
  const more = values.length - VALUES;
  if (more > 0) list.append(make("dt", "", `and ${more} more`), make("dd", "", ""));
  return list;
}
