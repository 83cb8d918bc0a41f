// Which base row lies under the pointer: rows sorted once into square cells of the plane.

/** Rows on a plane. */
export interface Flat { rows: number; x: Float32Array; y: Float32Array }

export class Grid {
  private readonly side: number;
  private readonly columns: number;
  private readonly lines: number;
  private readonly starts: Uint32Array;
  private readonly members: Uint32Array;
  private readonly x0: number;
  private readonly y0: number;

  constructor(private readonly map: Flat) {
    const { rows, x, y } = map;
    let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < rows; i++) {
      if (x[i] < x0) x0 = x[i];
      if (x[i] > x1) x1 = x[i];
      if (y[i] < y0) y0 = y[i];
      if (y[i] > y1) y1 = y[i];
    }
    const [width, height] = [Math.max(x1 - x0, 1e-9), Math.max(y1 - y0, 1e-9)];
    // About two rows a cell, and never a grid much larger than the map.
    this.side = Math.max(Math.sqrt((width * height * 2) / Math.max(rows, 1)), Math.max(width, height) / 2048);
    [this.x0, this.y0] = [x0, y0];
    this.columns = Math.floor(width / this.side) + 1;
    this.lines = Math.floor(height / this.side) + 1;
    this.starts = new Uint32Array(this.columns * this.lines + 1);
    const cell = new Uint32Array(rows);
    for (let i = 0; i < rows; i++) {
      cell[i] = Math.floor((y[i] - y0) / this.side) * this.columns + Math.floor((x[i] - x0) / this.side);
      this.starts[cell[i] + 1]++;
    }
    for (let c = 0; c < this.columns * this.lines; c++) this.starts[c + 1] += this.starts[c];
    const next = this.starts.slice();
    this.members = new Uint32Array(rows);
    for (let i = 0; i < rows; i++) this.members[next[cell[i]]++] = i;
  }

  /** The row nearest to a place within reach that passes, or -1. */
  nearest(px: number, py: number, reach: number, passes: (row: number) => boolean): number {
    const { x, y } = this.map;
    const span = (at: number, origin: number, most: number): [number, number] => [
      Math.max(0, Math.floor((at - reach - origin) / this.side)),
      Math.min(most - 1, Math.floor((at + reach - origin) / this.side)),
    ];
    const [c0, c1] = span(px, this.x0, this.columns);
    const [l0, l1] = span(py, this.y0, this.lines);
    let [best, least] = [-1, reach * reach];
    for (let line = l0; line <= l1; line++) {
      for (let k = this.starts[line * this.columns + c0]; k < this.starts[line * this.columns + c1 + 1]; k++) {
        const row = this.members[k];
        const distance = (x[row] - px) ** 2 + (y[row] - py) ** 2;
        if (distance <= least && passes(row)) [best, least] = [row, distance];
      }
    }
    return best;
  }

  /** The nearest row however far: the reach doubles until there is one. */
  nearestAny(px: number, py: number): number {
    if (this.map.rows === 0) return -1;
    for (let reach = this.side * 4; ; reach *= 2) {
      const row = this.nearest(px, py, reach, () => true);
      if (row >= 0 || reach > 1e30) return row;
    }
  }
}
