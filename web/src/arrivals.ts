// The live points: they land with a pulse, glide when they move, and age from bright to calm, all in the shader; the
// processor touches a point only when something happens to it.

import type { Camera } from "./camera";
import { begin, clear, onTheWay, program, SEEN, startAgain, uniforms } from "./gl";
import type { Spot } from "./geometry";
import type { Way } from "./morph";
import type { Rgb } from "./palette";
import { APART, dotRadius, NO_SEED, type Seed } from "./spread";
import type { Point } from "./state";
import type { Theme } from "./theme";

/** Seconds that a point takes to land or glide, and to calm down. */
export const LANDING = 1.2;
export const AGEING = 25;

const HIDDEN = 0;
const PLACED = 1;
const OUTLYING = 2;
const LEAVING = 3;
/** An outlier among its like: the group's outline says the rest. */
const GATHERED = 4;

const FLOATS = 14; // place and where it glides from (three each), birth, seed x, seed y, its room, the way to the group's place (three), and red, green, blue, kind (bytes)
const STRIDE = 4 * FLOATS;
const BIRTH = 6;
const SEED = 7;
const LOOK = STRIDE - 4; // where the bytes begin

const VERTEX = `${SEEN}
in vec3 place, origin, seed, shift;
in float birth;
in vec4 look;
uniform float now, radius, motion, glow, zoom, morphing;
uniform vec2 screen;
out vec3 shade;
out float size, age, kind, reach;
void main() {
  shade = look.rgb;
  kind = floor(look.a * 255.0 + 0.5);
  age = max(now - birth, 0.0);
  float way = motion > 0.5 ? clamp(age / 0.9, 0.0, 1.0) : 1.0;
  way = way * way * (3.0 - 2.0 * way);
  vec3 here = morphing > 0.5 ? between(origin, place) : mix(origin, place, way);
  float young = exp(-age / 9.0);
  // Members of a group stand beside each other, as far as there is room; crowded ones are smaller.
  float gap = clamp(seed.z * zoom, ${APART.least.toFixed(2)} * radius, ${APART.most.toFixed(2)} * radius);
  float member = seed.z > 0.0 ? 1.0 : 0.0;
  float crowd = mix(1.0, clamp(gap / (1.15 * radius), 0.55, 1.0), member);
  vec2 aside = member * way * gap * vec2(seed.x, -seed.y) * 2.0 / screen;
  vec3 at = seen(here + member * way * shift);
  // In space the nearer ones are larger, and none is too small to be seen.
  reach = radius * (1.0 - 0.3 * at.z) * crowd * (0.88 + mix(0.6, 0.25, member) * young);
  float pulse = motion > 0.5 && glow > 0.3 && age < ${LANDING} ? 1.0 : 0.0;
  float extent = reach + 2.0 + max(max(kind == ${OUTLYING}.0 ? reach * 1.5 + 2.0 : 0.0, reach * 2.2 * young * step(0.02, young * glow)), pulse * 5.0 * radius);
  // What is hidden or gone goes where nothing is drawn.
  bool gone = kind == ${HIDDEN}.0 || (kind == ${LEAVING}.0 && age > ${LANDING});
  gl_Position = gone ? vec4(2.0, 2.0, 2.0, 1.0) : vec4(at.xy + aside, at.z, 1.0);
  size = 2.0 * extent;
  gl_PointSize = size;
}`;

const FRAGMENT = `
in vec3 shade;
in float size, age, kind, reach;
uniform float radius, motion, glow, pixel;
uniform vec3 paper, ink, warning;
out vec4 colour;

// Paint of some colour and cover over what is there; premultiplied.
vec4 over(vec4 below, vec3 rgb, float alpha) {
  return vec4(rgb * alpha, alpha) + below * (1.0 - alpha);
}
float band(float distance, float at, float width) {
  return clamp(0.5 * width + 0.5 - abs(distance - at), 0.0, 1.0);
}
void main() {
  vec2 at = size * (gl_PointCoord - 0.5);
  float far = length(at);
  float young = exp(-age / 9.0);
  bool outlying = kind == ${OUTLYING}.0 || kind == ${GATHERED}.0;
  vec3 own = outlying ? shade : mix(shade, paper, 0.22 * (1.0 - young));
  vec4 sum = vec4(0.0);
  float halo = glow * young * 0.5 * pow(clamp(1.0 - far / (reach + 2.0 + 2.2 * reach * young), 0.0, 1.0), 2.0);
  sum = over(sum, own, halo);
  if (motion > 0.5 && glow > 0.3 && age < ${LANDING}) {
    float share = age / ${LANDING};
    sum = over(sum, own, (1.0 - share) * 0.9 * glow * band(far, mix(radius, radius * 5.5, 1.0 - pow(1.0 - share, 2.0)), 2.0 * pixel));
  }
  if (kind == ${OUTLYING}.0) {
    float ring = reach * 2.1 + pixel;
    sum = over(sum, paper, 0.75 * band(far, ring, 3.6 * pixel));
    sum = over(sum, warning, (0.5 + 0.5 * young) * band(far, ring, 1.7 * pixel));
  }
  float distance = outlying ? dot(abs(at), vec2(0.70711)) * 1.12 : far;
  float cover = clamp(reach + 0.5 - distance, 0.0, 1.0);
  float core = clamp(reach - mix(1.0, 1.5, young) * pixel + 0.5 - distance, 0.0, 1.0);
  sum = over(sum, outlying ? mix(warning, ink, 0.25) : mix(mix(own, ink, 0.55), ink, 0.8 * young), cover);
  sum = over(sum, own, core);
  float leaving = kind == ${LEAVING}.0 ? clamp(1.0 - age / ${LANDING}, 0.0, 1.0) : 1.0;
  colour = sum * leaving;
}`;

/** What the stage asks of the live points' layer. */
export interface Arrivals {
  clear(): void;
  /** A point is there, came, or changed. `from` is where it glides from; `birth` when it began to be as it is. */
  put(point: Point, look: Rgb | null, ringed: boolean, birth: number, from?: Spot): void;
  /** Another colour, or none to hide it, or another ring; nothing else changes. */
  recolour(point: Point, look: Rgb | null, ringed: boolean): void;
  /** A point went away: it fades, or is simply not there any more. */
  remove(id: string, now: number, fading: boolean): void;
  /** Where a point stands among the members of its group. */
  seed(id: string, seed: Seed): void;
  /** The points are on their way from another version of the map; null when they are where they belong. */
  morph(way: Way | null): void;
  draw(camera: Camera, ratio: number, now: number, theme: Theme, warning: Rgb, motion: boolean): void;
}

export class ArrivalLayer implements Arrivals {
  private at!: (name: string) => WebGLUniformLocation | null;
  private program!: WebGLProgram;
  private buffer!: WebGLBuffer;
  private bytes = new ArrayBuffer(STRIDE * 1024);
  private floats = new Float32Array(this.bytes);
  private octets = new Uint8Array(this.bytes);
  private readonly slots = new Map<string, number>();
  private free: number[] = [];
  /** Slots of points that are fading away, and when they will have. */
  private leaving: { slot: number; until: number }[] = [];
  private used = 0;
  private dirty = { from: Infinity, to: -1 };
  private resized = true;
  /** About how many points arrived in the last seconds. */
  private recent = 0;

  constructor(private readonly gl: WebGL2RenderingContext, restored: () => void) {
    startAgain(gl, () => this.start(), restored);
  }

  private start(): void {
    const { gl } = this;
    this.program = program(gl, VERTEX, FRAGMENT);
    this.at = uniforms(gl, this.program);
    this.buffer = gl.createBuffer() as WebGLBuffer;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    for (const [name, size, type, offset] of [
      ["place", 3, gl.FLOAT, 0], ["origin", 3, gl.FLOAT, 12], ["birth", 1, gl.FLOAT, 4 * BIRTH], ["seed", 3, gl.FLOAT, 4 * SEED],
      ["shift", 3, gl.FLOAT, 4 * SEED + 12], ["look", 4, gl.UNSIGNED_BYTE, LOOK],
    ] as const) {
      const at = gl.getAttribLocation(this.program, name);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, type, type === gl.UNSIGNED_BYTE, STRIDE, offset);
    }
    this.resized = true;
  }

  private seen = 0;
  private way: Way | null = null;

  clear(): void {
    this.slots.clear();
    this.free = [];
    this.leaving = [];
    this.used = 0;
  }

  put(point: Point, look: Rgb | null, ringed: boolean, birth: number, from: Spot = point): void {
    let slot = this.slots.get(point.id);
    if (slot === undefined) {
      slot = this.free.pop() ?? this.used++;
      this.slots.set(point.id, slot);
      this.grow();
      this.sow(slot, NO_SEED);
    }
    if (birth >= this.seen - 9) this.recent++;
    this.floats.set([point.x, point.y, point.z ?? 0, from.x, from.y, from.z ?? 0, birth], slot * FLOATS);
    this.paint(slot, point, look, ringed);
  }

  morph(way: Way | null): void {
    this.way = way;
  }

  seed(id: string, seed: Seed): void {
    const slot = this.slots.get(id);
    if (slot === undefined) return;
    this.sow(slot, seed);
    this.touch(slot);
  }

  private sow(slot: number, { x, y, room, dx, dy, dz }: Seed): void {
    this.floats.set([x, y, room, dx, dy, dz], slot * FLOATS + SEED);
  }

  private paint(slot: number, point: Point, look: Rgb | null, ringed: boolean): void {
    const outlying = ringed ? OUTLYING : GATHERED;
    const kind = look === null ? HIDDEN : point.verdict === "outlier" ? outlying : PLACED;
    const [r, g, b] = look ?? [0, 0, 0];
    this.octets.set([r, g, b, kind], slot * STRIDE + LOOK);
    this.touch(slot);
  }

  recolour(point: Point, look: Rgb | null, ringed: boolean): void {
    const slot = this.slots.get(point.id);
    if (slot !== undefined) this.paint(slot, point, look, ringed);
  }

  remove(id: string, now: number, fading: boolean): void {
    const slot = this.slots.get(id);
    if (slot === undefined) return;
    this.slots.delete(id);
    const kind = slot * STRIDE + LOOK + 3;
    this.octets[kind] = fading && this.octets[kind] !== HIDDEN ? LEAVING : HIDDEN;
    this.floats[slot * FLOATS + BIRTH] = now;
    this.touch(slot);
    if (fading) this.leaving.push({ slot, until: now + LANDING });
    else this.free.push(slot);
  }

  private grow(): void {
    if (this.used * STRIDE <= this.bytes.byteLength) return;
    const bytes = new ArrayBuffer(this.bytes.byteLength * 2);
    new Uint8Array(bytes).set(this.octets);
    this.bytes = bytes;
    this.floats = new Float32Array(bytes);
    this.octets = new Uint8Array(bytes);
    this.resized = true;
  }

  private touch(slot: number): void {
    this.dirty.from = Math.min(this.dirty.from, slot);
    this.dirty.to = Math.max(this.dirty.to, slot);
  }

  private upload(): void {
    const { gl, dirty } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    if (this.resized) gl.bufferData(gl.ARRAY_BUFFER, this.octets, gl.DYNAMIC_DRAW);
    else if (dirty.to >= dirty.from) {
      gl.bufferSubData(gl.ARRAY_BUFFER, dirty.from * STRIDE, this.octets, dirty.from * STRIDE, (dirty.to - dirty.from + 1) * STRIDE);
    }
    this.resized = false;
    this.dirty = { from: Infinity, to: -1 };
  }

  draw(camera: Camera, ratio: number, now: number, theme: Theme, warning: Rgb, motion: boolean): void {
    const { gl, at } = this;
    while (this.leaving.length > 0 && this.leaving[0].until < now) this.free.push((this.leaving.shift() as { slot: number }).slot);
    gl.useProgram(this.program);
    this.upload();
    clear(gl);
    begin(gl, camera, at);
    onTheWay(gl, this.way, at);
    gl.uniform1f(at("now"), now);
    this.recent *= Math.exp((this.seen - now) / 6);
    this.seen = now;
    // In a flood everything would glow, and nothing stand out.
    gl.uniform1f(at("glow"), Math.min(Math.max(1.2 - this.recent / 1500, 0), 1));
    gl.uniform1f(at("radius"), dotRadius(camera, this.slots.size) * ratio);
    gl.uniform1f(at("pixel"), ratio);
    gl.uniform1f(at("zoom"), camera.scale * ratio);
    gl.uniform2f(at("screen"), gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.uniform1f(at("motion"), motion ? 1 : 0);
    const rgb = (name: string, colour: Rgb) => gl.uniform3f(at(name), colour[0] / 255, colour[1] / 255, colour[2] / 255);
    rgb("paper", theme.paper);
    rgb("ink", theme.dark ? [8, 10, 13] : theme.ink);
    rgb("warning", warning);
    gl.drawArrays(gl.POINTS, 0, this.used);
  }
}
