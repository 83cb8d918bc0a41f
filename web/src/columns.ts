// The geometry of the base map: one binary answer, read without copying.

/** A row that belongs to no cluster. */
export const NO_CLUSTER = 0xffffffff;

export interface Columns {
  rows: number;
  x: Float32Array;
  y: Float32Array;
  /** Null for a map in the plane. */
  z: Float32Array | null;
  cluster: Uint32Array;
  /** All ids joined by line ends; null where the ids are the row numbers. */
  ids: Ids;
}

interface Entry { name: string; type: string; offset: number; length: number }

/** Columns of bytes behind a header that says where each is. */
export interface Packed<H> { header: H; find(name: string): Uint8Array | undefined }

/** u32 length of a JSON header, the header, then the columns. `what` names it in complaints. */
export function unpack<H>(bytes: ArrayBuffer, what: string): Packed<H> {
  if (bytes.byteLength < 4) throw new Error(`${what} is empty`);
  const length = new DataView(bytes).getUint32(0, true);
  const start = 4 + length;
  if (start > bytes.byteLength) throw new Error(`${what} ends within the header`);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length))) as H & { columns: Entry[] };
  // The columns are aligned to 8 from the end of the header; where that end itself is not, they are moved once.
  const body = start % 8 === 0 ? bytes : bytes.slice(start);
  const origin = start % 8 === 0 ? start : 0;
  const find = (name: string): Uint8Array | undefined => {
    const entry = header.columns.find((column) => column.name === name);
    if (entry && origin + entry.offset + entry.length > body.byteLength) throw new Error(`the column ${name} of ${what} is cut short`);
    return entry && new Uint8Array(body, origin + entry.offset, entry.length);
  };
  return { header, find };
}

/** Reads `GET /api/map/columns`. */
export function parseColumns(bytes: ArrayBuffer): Columns {
  const { header, find } = unpack<{ rows: number }>(bytes, "the map");
  const { rows } = header;
  const numbers = <T>(name: string, make: new (buffer: ArrayBuffer, offset: number, length: number) => T): T => {
    const column = find(name);
    if (!column) throw new Error(`the map has no column ${name}`);
    if (column.length !== rows * 4) throw new Error(`the column ${name} of the map has not ${rows} values`);
    return new make(column.buffer as ArrayBuffer, column.byteOffset, rows);
  };
  return {
    rows,
    x: numbers("x", Float32Array),
    y: numbers("y", Float32Array),
    z: find("z") ? numbers("z", Float32Array) : null,
    cluster: find("cluster") ? numbers("cluster", Uint32Array) : new Uint32Array(rows).fill(NO_CLUSTER),
    ids: new Ids(rows, find("ids")),
  };
}

/** The ids of the base rows. Kept as one text, cut only when somebody searches: a million strings cost too much. */
export class Ids {
  private text: string | null = null;
  private starts: Uint32Array | null = null;

  constructor(readonly rows: number, private readonly bytes?: Uint8Array) {}

  /** Whether rows have ids of their own. */
  get named(): boolean {
    return this.bytes !== undefined;
  }

  /** Whether the ids of another map begin with all of these, in the same order. */
  isStartOf(other: Ids): boolean {
    const [mine, its] = [this.bytes, other.bytes];
    if (!mine || !its || this.rows > other.rows || mine.length > its.length) return false;
    for (let k = 0; k < mine.length; k++) if (mine[k] !== its[k]) return false;
    return mine.length === its.length || its[mine.length] === 10;
  }

  private open(): { text: string; starts: Uint32Array } {
    if (this.text === null || this.starts === null) {
      const text = new TextDecoder().decode(this.bytes);
      const starts = new Uint32Array(this.rows + 1);
      for (let row = 0, at = 0; row < this.rows; row++) {
        starts[row] = at;
        const end = text.indexOf("\n", at);
        at = end < 0 ? text.length + 1 : end + 1;
      }
      starts[this.rows] = text.length + 1;
      this.text = text;
      this.starts = starts;
    }
    return { text: this.text, starts: this.starts };
  }

  at(row: number): string {
    if (!this.bytes) return String(row);
    const { text, starts } = this.open();
    return text.slice(starts[row], starts[row + 1] - 1);
  }

  /** Rows whose id holds the text, the exact one first, at most `most`. */
  find(query: string, most: number): number[] {
    if (query === "") return [];
    return this.bytes ? this.search(query, most) : this.numbers(query, most);
  }

  private numbers(query: string, most: number): number[] {
    const found: number[] = [];
    if (!/^\d+$/.test(query) || (query.length > 1 && query.startsWith("0"))) return found;
    // The number itself, then those that begin with it.
    for (let low = Number(query), span = 1; low < this.rows && found.length < most; low *= 10, span *= 10) {
      for (let row = low; row < low + span && row < this.rows && found.length < most; row++) found.push(row);
      if (low === 0) break;
    }
    return found;
  }

  private search(query: string, most: number): number[] {
    const { text, starts } = this.open();
    const found: number[] = [];
    const exact = this.exact(query, text, starts);
    if (exact >= 0) found.push(exact);
    for (let at = text.indexOf(query); at >= 0 && found.length < most;) {
      const row = this.rowAt(at, starts);
      if (row !== exact) found.push(row);
      at = text.indexOf(query, starts[row + 1]);
    }
    return found;
  }

  private exact(query: string, text: string, starts: Uint32Array): number {
    if (text === query || text.startsWith(`${query}\n`)) return 0;
    const middle = text.indexOf(`\n${query}\n`);
    if (middle >= 0) return this.rowAt(middle + 1, starts);
    return text.endsWith(`\n${query}`) ? this.rows - 1 : -1;
  }

  private rowAt(position: number, starts: Uint32Array): number {
    let [low, high] = [0, this.rows - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
