// A table as text.

/** Comma-separated, quoted where need be (RFC 4180), one line per row and the heading first. */
export function csv(heading: readonly string[], rows: Iterable<readonly (string | number | null)[]>): string {
  let text = `${heading.map(cell).join(",")}\r\n`;
  for (const row of rows) text += `${row.map(cell).join(",")}\r\n`;
  return text;
}

function cell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  // A spreadsheet takes what begins so for a formula; an apostrophe makes it text.
  const safe = /^[=+\-@\t\r]/.test(value) && !Number.isFinite(Number(value)) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
