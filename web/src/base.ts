// The base map: a million points that go to the graphics card once, as they came. Colours are looked up by cluster, so
// that hiding a cluster or changing the theme costs nothing.

import type { Camera } from "./camera";
import { NO_CLUSTER, type Columns } from "./columns";
import { begin, clear, onTheWay, program, SEEN, startAgain, uniforms } from "./gl";
import type { Origin, Way } from "./morph";
import { mix, type Rgb } from "./palette";
import type { Theme } from "./theme";

/** In space, points are drawn larger the nearer they are, and paler the farther, as if there were mist. */
const VERTEX = `${SEEN}
in float x, y, z, x0, y0, z0, fresh;
in uint cluster;
uniform float size, morphing, grown;
uniform vec3 paper;
uniform sampler2D palette;
out vec4 shade;
out float across;
void main() {
  int k = cluster == ${NO_CLUSTER}u ? 0 : int(cluster) + 1;
  shade = texelFetch(palette, ivec2(k & 1023, k >> 10), 0);
  // A hidden point goes where nothing is drawn.
  vec3 place = vec3(x, y, z);
  if (morphing > 0.5 && fresh < 0.5) place = between(vec3(x0, y0, z0), place);
  if (morphing > 0.5 && fresh > 0.5) shade.a *= grown;
  vec3 at = seen(place);
  gl_Position = shade.a == 0.0 ? vec4(2.0, 2.0, 2.0, 1.0) : vec4(at, 1.0);
  shade.rgb = mix(shade.rgb, paper, clamp(0.1 + 0.7 * at.z, 0.0, 0.4) * step(0.000001, deep));
  across = size * (1.0 + 0.8 * morphing * fresh * (1.0 - grown)) * (1.0 - 0.5 * at.z);
  gl_PointSize = across;
}`;

const FRAGMENT = `
in vec4 shade;
in float across;
uniform float opacity, solid;
out vec4 colour;
void main() {
  float cover = clamp(0.5 * across - length(across * (gl_PointCoord - 0.5)), 0.0, 1.0);
  // What hides others in space has a hard edge.
  if (solid > 0.5 && cover < 0.5) discard;
  float alpha = opacity * shade.a * (across < 2.5 ? 1.0 : cover);
  colour = vec4(shade.rgb * alpha, alpha);
}`;

/** Points that one frame can draw; found out by watching. While the view moves a frame draws every k-th point, and when it
 * rests the others are added frame by frame. */
const BUDGET = { least: 20_000, start: 100_000, most: 4_000_000 };
/** Seconds that a frame may take. */
const FRAME = 0.028;
/** Steps of more bytes than this cannot be had from one buffer. */
const MOST_STEP = 255 >> 2;
/** How much of the paper is mixed into the map's own points, so that arrivals stand out. */
const CALM = { light: 0.42, dark: 0.34 };

const ATTRIBUTES = ["x", "y", "z", "x0", "y0", "z0", "fresh", "cluster"];

export interface ClusterLook { colour: Rgb; shown: boolean; strength: number }

/** How much a colour of the map's own points is calmed: crowded ones hide the paper between them, and need more of it. */
export function calmed(colour: Rgb, { paper, dark }: Theme, rows: number): Rgb {
  const crowd = (dark ? 0.1 : 0.05) * Math.min(Math.max(Math.log10(rows / 2500), 0), 1.5);
  return mix(colour, paper, (dark ? CALM.dark : CALM.light) + crowd);
}

/** Radius of the points in pixels: they fill about a tenth of the view, and grow slower than the zoom. */
export function radiusOf(camera: Camera, rows: number): number {
  const area = camera.width * camera.height;
  const whole = Math.sqrt((area * 0.085) / (Math.PI * Math.max(rows, 400)));
  return Math.min(Math.min(Math.max(whole, 0.55), 3) * Math.max(camera.zoom, 1) ** 0.45, 5.5);
}

/** What the stage asks of the base map's layer. */
export interface Base {
  /** The look of each cluster, and first that of the points in none. */
  colour(looks: readonly ClusterLook[], theme: Theme): void;
  radius(camera: Camera): number;
  /** Begins a new picture. While the view moves it has only as many points as keep it smooth. */
  draw(camera: Camera, ratio: number, moving: boolean): void;
  /** Adds to a picture at rest what the frames before left out; false when it is whole. */
  refine(camera: Camera, ratio: number): boolean;
  /** Learns from how long a frame took that drew as much as it may. */
  learn(seconds: number): void;
  /** Other rows are drawn from now on. */
  change(map: Columns): void;
  /** The rows are on their way from another version of the map; null when they are where they belong. */
  morph(way: Way | null): void;
  /** All that is not drawn yet, whatever it takes: for a picture that leaves the page. */
  finish(camera: Camera, ratio: number): void;
}

export class BaseLayer implements Base {
  private at!: (name: string) => WebGLUniformLocation | null;
  private readonly buffers = new Map<string, WebGLBuffer>();
  private program!: WebGLProgram;
  private budget = BUDGET.start;
  /** How many of the slices of the picture at rest are drawn, and of how many. */
  private slices = { drawn: 0, all: 0 };
  private texels = new Uint8Array(4 * 1024);
  private paper: Rgb = [255, 255, 255];
  private way: Way | null = null;

  constructor(private readonly gl: WebGL2RenderingContext, private map: Columns, restored: () => void) {
    startAgain(gl, () => this.start(), restored);
  }

  private start(): void {
    const { gl } = this;
    this.program = program(gl, VERTEX, FRAGMENT);
    this.at = uniforms(gl, this.program);
    this.buffers.clear();
    this.fill();
    if (this.way) this.fillOrigin(this.way.origin);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    this.upload();
  }

  change(map: Columns): void {
    this.map = map;
    this.fill();
  }

  morph(way: Way | null): void {
    if (way?.origin !== this.way?.origin) this.fillOrigin(way?.origin ?? null);
    this.way = way;
  }

  private fill(): void {
    const { x, y, z, cluster } = this.map;
    for (const [name, values] of [["x", x], ["y", y], ["z", z], ["cluster", cluster]] as const) this.put(name, values);
  }

  private fillOrigin(origin: Origin | null): void {
    for (const [name, part] of [["x0", "x"], ["y0", "y"], ["z0", "z"], ["fresh", "fresh"]] as const) this.put(name, origin?.[part] ?? null);
  }

  /** Sends a column to the graphics card, or takes it from there. */
  private put(name: string, values: Float32Array | Uint32Array | null): void {
    const { gl, buffers } = this;
    if (!values) {
      gl.deleteBuffer(buffers.get(name) ?? null);
      buffers.delete(name);
      return;
    }
    const buffer = buffers.get(name) ?? gl.createBuffer() as WebGLBuffer;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    buffers.set(name, buffer);
  }

  colour(looks: readonly ClusterLook[], theme: Theme): void {
    const lines = Math.max(1, Math.ceil(looks.length / 1024));
    this.texels = new Uint8Array(4 * 1024 * lines);
    looks.forEach(({ colour, shown, strength }, k) => {
      this.texels.set([...calmed(colour, theme, this.map.rows), shown ? Math.max(1, Math.round(255 * strength)) : 0], 4 * k);
    });
    this.paper = theme.paper;
    this.upload();
  }

  private upload(): void {
    const { gl, texels } = this;
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 1024, texels.length / 4096, 0, gl.RGBA, gl.UNSIGNED_BYTE, texels);
  }

  radius(camera: Camera): number {
    return radiusOf(camera, this.map.rows);
  }

  draw(camera: Camera, ratio: number, moving: boolean): void {
    const step = Math.min(Math.max(Math.ceil(this.map.rows / this.budget), 1), MOST_STEP);
    this.slices = { drawn: 1, all: moving ? 1 : step };
    this.slice(camera, ratio, 0, step, moving);
  }

  refine(camera: Camera, ratio: number): boolean {
    const { drawn, all } = this.slices;
    if (drawn >= all) return false;
    this.slice(camera, ratio, drawn, all, false);
    this.slices.drawn++;
    return true;
  }

  /** Every step-th point from the first on. Fewer points are drawn larger, so that the map keeps its weight. */
  private slice(camera: Camera, ratio: number, first: number, step: number, moving: boolean): void {
    const { gl, map } = this;
    gl.useProgram(this.program);
    if (first === 0) clear(gl);
    begin(gl, camera, this.at);
    onTheWay(gl, this.way, this.at);
    for (const name of ATTRIBUTES) {
      const at = gl.getAttribLocation(this.program, name);
      const buffer = this.buffers.get(name);
      if (!buffer) {
        gl.disableVertexAttribArray(at);
        continue;
      }
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(at);
      if (name === "cluster") gl.vertexAttribIPointer(at, 1, gl.UNSIGNED_INT, 4 * step, 4 * first);
      else gl.vertexAttribPointer(at, 1, gl.FLOAT, false, 4 * step, 4 * first);
    }
    const { space } = camera.turn;
    if (space) gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.uniform1f(this.at("solid"), space ? 1 : 0);
    gl.uniform3f(this.at("paper"), this.paper[0] / 255, this.paper[1] / 255, this.paper[2] / 255);
    const across = 2 * this.radius(camera) * ratio * (moving ? Math.min(Math.sqrt(step), 2) : 1) + 1;
    const size = Math.max(across, 1.5);
    gl.uniform1f(this.at("size"), size);
    const crowd = Math.min(1, 40_000 / map.rows) ** 0.2;
    gl.uniform1f(this.at("opacity"), space ? 1 : Math.min(0.85, 0.8 * crowd * Math.min(1, (across / size) ** 2)));
    gl.drawArrays(gl.POINTS, 0, Math.ceil((map.rows - first) / step));
  }

  learn(seconds: number): void {
    if (seconds > 2 * FRAME) this.budget = Math.max(this.budget * Math.max(FRAME / seconds, 0.4), BUDGET.least);
    else if (seconds < FRAME) this.budget = Math.min(this.budget * 1.15, BUDGET.most);
  }

  finish(camera: Camera, ratio: number): void {
    while (this.refine(camera, ratio));
  }
}
