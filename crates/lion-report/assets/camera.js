// How the map is seen: where a point falls on the screen, and which point lies under a finger.

const LIMITS = { least: 0.4, most: 2000 };

class Camera {
  constructor() {
    this.width = 1;
    this.height = 1;
    this.bottom = 0;
    this.half = Camera.extent();
    this.reset();
  }

  // Half the width and height that the whole map needs; in 3-D, from every side.
  static extent() {
    const half = [0, 0];
    for (let at = 0; at < points.length; at += DIMS) {
      const [x, y] = [Math.abs(points[at]), Math.abs(points[at + 1])];
      const reach = DIMS === 3 ? Math.hypot(x, y, points[at + 2]) : 0;
      half[0] = Math.max(half[0], x, reach);
      half[1] = Math.max(half[1], y, reach);
    }
    // All points in one place: any scale will do. All on a line: the other axis decides.
    return Math.max(...half) > 0 ? half.map((h) => Math.max(h, 1e-9)) : [1, 1];
  }

  reset() {
    this.zoom = 1;
    this.x = 0;
    this.y = this.home;
    this.turn(data.yaw, data.pitch);
  }

  // Yaw about the vertical axis, then pitch towards the viewer. Rows: right, up, towards the viewer.
  turn(yaw, pitch) {
    this.yaw = yaw;
    this.pitch = Math.min(Math.max(pitch, -Math.PI / 2), Math.PI / 2);
    this.changed();
    if (DIMS === 2) {
      this.rows = [1, 0, 0, 0, 1, 0, 0, 0, 1];
      return;
    }
    const [sy, cy, sp, cp] = [Math.sin(yaw), Math.cos(yaw), Math.sin(this.pitch), Math.cos(this.pitch)];
    this.rows = [cy, 0, sy, sp * sy, cp, -sp * cy, -cp * sy, sp, cp * cy];
  }

  changed() {
    this.grid = null;
  }

  // The whole map leaves so many pixels free at the bottom as bottomFor says of it.
  resize(width, height, bottomFor) {
    const whole = this.zoom === 1 && this.x === 0 && this.y === this.home;
    this.width = Math.max(width, 1);
    this.height = Math.max(height, 1);
    this.bottom = 0;
    const { x, y, zoom } = this;
    Object.assign(this, { x: 0, y: 0, zoom: 1 });
    this.bottom = Math.min(bottomFor(this.width, this.height), this.height / 2);
    Object.assign(this, { x, y: whole ? this.home : y, zoom });
    this.changed();
  }

  // Pixels per unit of the map.
  get scale() {
    return this.zoom * 0.47 * Math.min(this.width / this.half[0], (this.height - this.bottom) / this.half[1]);
  }

  // What is in the middle of the view, from the bottom to the top, when the whole map is seen.
  get home() {
    return -this.bottom / 2 / (this.scale / this.zoom);
  }

  // Where a point falls: pixels from the left and from the top, and how near it is (1 nearest, -1 farthest).
  place(i) {
    const r = this.rows;
    const x = points[i * DIMS];
    const y = points[i * DIMS + 1];
    const z = DIMS === 3 ? points[i * DIMS + 2] : 0;
    const s = this.scale;
    return [
      this.width / 2 + (r[0] * x + r[1] * y + r[2] * z - this.x) * s,
      this.height / 2 - (r[3] * x + r[4] * y + r[5] * z - this.y) * s,
      (r[6] * x + r[7] * y + r[8] * z) / this.half[0],
    ];
  }

  // Where a place of a flat map falls.
  flat(x, y) {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale];
  }

  pan(dx, dy) {
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
    this.changed();
  }

  // Zooms so that what is at (x, y) on the screen stays there.
  zoomAt(factor, x = this.width / 2, y = this.height / 2) {
    const zoom = Math.min(Math.max(this.zoom * factor, LIMITS.least), LIMITS.most);
    const [dx, dy] = [x - this.width / 2, y - this.height / 2];
    const before = this.scale;
    this.zoom = zoom;
    const after = this.scale;
    this.x += dx / before - dx / after;
    this.y -= dy / before - dy / after;
    this.changed();
  }

  // Brings a point to the middle, near enough to see its neighbours apart.
  visit(i) {
    const [x, y] = this.place(i);
    this.pan(this.width / 2 - x, this.height / 2 - y);
    this.zoomAt(Math.max(1, 6 / this.zoom));
  }

  // The shown point nearest to (x, y) within reach pixels, or -1. In 3-D one in front wins over one behind, and a
  // placed point, where the pointer is on it, over all that lie below.
  pick(x, y, reach) {
    const cell = Camera.CELL;
    this.grid ??= this.makeGrid();
    const { columns, lines, starts, members } = this.grid;
    const span = Math.ceil(reach / cell);
    const [column, line] = [Math.floor(x / cell), Math.floor(y / cell)];
    const radii = layers.map((layer) => dotStyle(this, layer).radius + 1);
    let [best, bestScore] = [-1, 0];
    for (let l = Math.max(line - span, 0); l <= Math.min(line + span, lines - 1); l++) {
      for (let c = Math.max(column - span, 0); c <= Math.min(column + span, columns - 1); c++) {
        for (let k = starts[l * columns + c]; k < starts[l * columns + c + 1]; k++) {
          const [px, py, near] = this.place(members[k]);
          const distance = (px - x) ** 2 + (py - y) ** 2;
          const layer = layerOf(members[k]);
          const above = layer > 0 && distance <= radii[layer] ** 2 ? layer : 0;
          const score = distance + (DIMS === 3 ? 24 * (1 - near) : 0) - above * 1e6;
          if (distance <= reach * reach && (best < 0 || score < bestScore)) [best, bestScore] = [members[k], score];
        }
      }
    }
    return best;
  }

  // The shown points on the screen, sorted into square cells by counting. Made when first asked for after a change.
  makeGrid() {
    const cell = Camera.CELL;
    const columns = Math.ceil(this.width / cell);
    const lines = Math.ceil(this.height / cell);
    const cellOf = new Int32Array(N).fill(-1);
    const starts = new Uint32Array(columns * lines + 1);
    const r = this.rows;
    const s = this.scale;
    for (let i = 0, at = 0; i < N; i++, at += DIMS) {
      // As place() does, but without an array per point: this runs over all of them.
      const z = DIMS === 3 ? points[at + 2] : 0;
      const x = this.width / 2 + (r[0] * points[at] + r[1] * points[at + 1] + r[2] * z - this.x) * s;
      const y = this.height / 2 - (r[3] * points[at] + r[4] * points[at + 1] + r[5] * z - this.y) * s;
      if (x < 0 || y < 0 || x >= this.width || y >= this.height || !isShown(i) || alpha[i] < LEAST_PICKED) continue;
      cellOf[i] = Math.floor(y / cell) * columns + Math.floor(x / cell);
      starts[cellOf[i] + 1]++;
    }
    for (let c = 0; c < columns * lines; c++) starts[c + 1] += starts[c];
    const next = starts.slice();
    const members = new Uint32Array(starts[columns * lines]);
    for (let i = 0; i < N; i++) if (cellOf[i] >= 0) members[next[cellOf[i]]++] = i;
    return { columns, lines, starts, members };
  }
}

Camera.CELL = 16;
