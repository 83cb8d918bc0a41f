// The map on the screen: its layers, the camera, and when what is drawn again.

import { AGEING, ArrivalLayer, LANDING, type Arrivals } from "./arrivals";
import { BaseLayer, type Base } from "./base";
import { Camera } from "./camera";
import { byId } from "./dom";
import { boxOfBounds, type Box, type Place, type Rect, type Spot } from "./geometry";
import { context, resizeCanvas } from "./gl";
import { LevelNames } from "./explained";
import { Grid, type Flat } from "./grid";
import type { Look } from "./look";
import { between, inverse, origin, stages, type Origin } from "./morph";
import { Overlay, type Mark, type Scene } from "./overlay";
import { OUTLIER } from "./palette";
import { compose, type Entry } from "./poster";
import { PlainArrivals, PlainBase } from "./plain";
import { dotRadius, NO_SEED, Spread } from "./spread";
import type { Point, State, Step } from "./state";
import { calm, type ThemeSource } from "./theme";
import { Trails } from "./trails";
import { isNotice, type LiveEvent } from "./types";
import type { Version } from "./versions";

/** After the view has rested for so many seconds, all points are drawn. */
const REST = 0.14;
/** Ageing is slow: while nothing else moves, so many seconds may pass between frames. */
const AGE_STEP = 0.2;

/** A morph: since when, how long, and whether the rows of the version before are drawn, on their way back to fewer. */
interface Morphing { origin: Origin; start: number; seconds: number; share: number; back: boolean; done: () => void }

export type Picked = { point: Point } | { row: number } | null;

export class Stage {
  readonly camera = new Camera();
  readonly root = byId("stage");
  private readonly layers = ["base", "live", "over"].map((id) => byId<HTMLCanvasElement>(id));
  readonly canvas = this.layers[2];
  private readonly base: Base;
  private readonly arrivals: Arrivals;
  private readonly overlay: Overlay;
  private readonly trails = new Trails();
  readonly spread: Spread;
  readonly scene: Scene;
  private ratio = 1;
  private readonly stale = { base: true, live: true, over: true };
  private animated = 0;
  private ageing = 0;
  private drawn = 0;
  private moved = -1;
  private moving = false;
  private refining = false;
  /** Whether the map was turned since it last rested. */
  private turned = false;
  /** Whether names can be changed by pressing them. */
  renames = false;
  /** Whether a hand is on the map: then it may move at any moment. */
  held = false;
  private grid: Grid | null = null;
  /** The rows on the plane that is looked at, and when they were put there. */
  private flat: { at: string; rows: Flat } | null = null;
  private morphing: Morphing | null = null;

  constructor(
    private readonly shown: Version,
    private readonly state: State,
    private readonly look: Look,
    private readonly themes: ThemeSource,
    private readonly clock: () => number,
  ) {
    const redraw = () => this.recolour();
    const [below, above] = this.layers;
    const [under, over] = [context(below, true), context(above)];
    this.base = under ? new BaseLayer(under, shown.columns, redraw) : new PlainBase(below, shown.columns);
    this.arrivals = over ? new ArrivalLayer(over, redraw) : new PlainArrivals(above);
    this.overlay = new Overlay(this.canvas);
    this.spread = new Spread(state, ({ x, y, z }) => this.camera.turn.plane(x, y, z), (place) => this.room(place));
    this.scene = {
      explained: new LevelNames(),
      camera: this.camera, theme: themes.current, state, look, shown, trails: this.trails, spread: this.spread, like: () => null,
      selected: { ids: new Set(), rows: [], outline: [] }, kept: [], hover: null, lasso: [], beacon: null, motion: !calm(), morph: null, born: [], compared: null,
    };
    themes.onChange(redraw);
    this.camera.turn.hold(look.map.bounds);
    this.camera.hold(this.extent());
    this.recolour();
    this.sizes.observe(this.root);
    this.resize();
  }

  private readonly sizes = new ResizeObserver(() => this.resize());

  /** Nothing is drawn any more, and the graphics card has its room back. */
  close(): void {
    this.sizes.disconnect();
    for (const layer of this.layers.slice(0, 2)) layer.getContext("webgl2")?.getExtension("WEBGL_lose_context")?.loseContext();
  }

  private resize(): void {
    this.camera.resize(this.root.clientWidth, this.root.clientHeight);
    this.scale(Math.min(devicePixelRatio || 1, 2));
    // A canvas that changed its size is empty until it is drawn, and that would be seen.
    this.draw(this.clock());
  }

  private all(): void {
    this.stale.base = this.stale.live = this.stale.over = true;
  }

  /** The view changed. */
  view(): void {
    this.moved = this.clock();
    this.all();
  }

  /** Something over the points changed. */
  touch(): void {
    this.stale.over = true;
  }

  /** Colours, or what is shown, changed. */
  recolour(): void {
    this.scene.theme = this.themes.current;
    this.look.dark = this.themes.current.dark;
    this.base.colour(this.look.base(this.state), this.themes.current);
    for (const point of this.state.points.values()) this.arrivals.recolour(point, this.look.of(point), this.alone(point));
    this.all();
  }

  /** Whether a point is an outlier with no other beside it: then it has a ring of its own. */
  private alone({ group }: Point): boolean {
    return group === null || (this.state.groups.get(group)?.size ?? 1) < 2;
  }

  /** A group that gained its second member or lost all but one: its rings change. */
  private regroup(group: number | null | undefined): void {
    const members = group === null || group === undefined ? undefined : this.state.groups.get(group);
    if (!members || members.size > 2) return;
    for (const id of members) {
      const point = this.state.points.get(id);
      if (point) this.arrivals.recolour(point, this.look.of(point), this.alone(point));
    }
  }

  /** Rows are in other clusters, or clusters have other colours. */
  reclassify(): void {
    this.base.change(this.shown.columns);
    this.recolour();
  }

  /** Only the base map's colours changed. */
  recolourBase(): void {
    this.base.colour(this.look.base(this.state), this.themes.current);
    this.stale.base = this.stale.over = true;
  }

  /** All points anew, as old as they are at time `t` of the map. */
  reload(t: number): void {
    this.arrivals.clear();
    this.trails.clear();
    this.spread.clear();
    for (const point of this.state.points.values()) this.settle(point, t);
    this.all();
    this.widen();
  }

  /** Another version of the map is shown. `before` is the version that was, `rows` where its rows are in the new one, and `places` where its live points were; `t` is the time of the map. Resolves when all is where it belongs. */
  morph(before: Version, rows: Int32Array, places: ReadonlyMap<string, Spot>, t: number, seconds: number): Promise<void> {
    this.arrive();
    const { shown: { info, columns }, camera } = this;
    this.flat = this.grid = null;
    camera.turn.hold(info.bounds);
    camera.hold(this.extent());
    this.widen();
    if (camera.auto) camera.reset(this.clock());
    if (calm() || seconds === 0) {
      this.base.change(columns);
      this.recolour();
      this.reload(t);
      return Promise.resolve();
    }
    // Of the two versions the one with more rows is drawn, so that none vanishes at once.
    const back = before.columns.rows > columns.rows;
    const [drawn, other] = back ? [before, this.shown] : [this.shown, before];
    this.base.change(drawn.columns);
    this.base.colour(this.look.base(this.state, drawn.info), this.themes.current);
    this.arrivals.clear();
    this.trails.clear();
    this.spread.clear();
    for (const point of this.state.points.values()) {
      const was = places.get(point.id) ?? point;
      const [from, to] = back ? [point, { ...point, x: was.x, y: was.y, z: was.z }] : [was, point];
      this.arrivals.put(to, this.look.of(point), this.alone(point), this.clock() - AGEING, from);
    }
    const centres = new Map<string, Spot>(before.info.clusters.map((cluster) => [cluster.name, cluster]));
    return new Promise((done) => {
      const way = origin(other.columns, drawn.columns, back ? rows : inverse(rows, columns.rows));
      this.morphing = { origin: way, start: this.clock(), seconds, back, share: 0, done };
      this.scene.morph = { stages: stages(0), place: (name, to) => this.onTheWay(centres.get(name), to) };
      this.settled = () => this.reload(t);
      this.progress(this.clock());
    });
  }

  private settled: () => void = () => {};

  /** Draws a morph as far as it is. */
  private progress(now: number): void {
    if (!this.morphing) return;
    const { origin, start, seconds, back } = this.morphing;
    const share = (now - start) / seconds;
    if (share >= 1) return this.arrive();
    this.morphing.share = share;
    const way = { origin, stages: stages(back ? 1 - share : share) };
    this.base.morph(way);
    this.arrivals.morph(way);
    if (this.scene.morph) this.scene.morph.stages = stages(share);
    this.moved = now;
    this.all();
  }

  /** Where a place of the version before is on its way to one of the new. */
  private onTheWay(from: Spot | undefined, to: Spot): Spot | undefined {
    if (!from || !this.morphing) return undefined;
    const { origin: { similarity }, back, share } = this.morphing;
    const [start, end] = (back ? [to, from] : [from, to]).map((spot) => [spot.x, spot.y, spot.z ?? 0]);
    const [x, y, z] = between(start, end, similarity, stages(back ? 1 - share : share));
    return { x, y, z };
  }

  /** Ends a morph: all is where it belongs. */
  private arrive(): void {
    if (!this.morphing) return;
    const { done } = this.morphing;
    this.morphing = null;
    this.scene.morph = null;
    this.base.morph(null);
    this.arrivals.morph(null);
    this.base.change(this.shown.columns);
    this.recolour();
    this.settled();
    done();
  }

  private settle(point: Point, t: number): void {
    const now = this.clock();
    const age = Math.max(t - point.t, 0);
    this.arrivals.put(point, this.look.of(point), this.alone(point), now - Math.max(age, LANDING));
    this.ageing = Math.max(this.ageing, now + AGEING - age);
  }

  /** Points as they are after a jump through time: no animation. */
  jump(ids: ReadonlySet<string>, t: number): void {
    this.arrive();
    this.trails.clear();
    for (const id of ids) {
      const point = this.state.points.get(id);
      if (point) this.settle(point, t);
      else this.arrivals.remove(id, this.clock(), false);
    }
    for (const id of ids) {
      this.spread.left(id);
      this.arrivals.seed(id, NO_SEED);
    }
    this.spread.touchAll();
    for (const group of this.state.groups.keys()) this.regroup(group);
    this.stale.live = this.stale.over = true;
    this.widen();
  }

  /** One event happens before the person's eyes. */
  play(event: LiveEvent, step: Step | null): void {
    const now = this.clock();
    if (step?.now && !isNotice(event) && event.kind !== "removed") {
      this.arrivals.put(step.now, this.look.of(step.now), this.alone(step.now), now, step.was ?? step.now);
      this.trails.add(event, this.look.colour(step.now.cluster), now);
    } else if (step) this.arrivals.remove(step.id, now, !calm());
    if (step && step.was?.group !== step.now?.group) {
      this.spread.left(step.id);
      this.arrivals.seed(step.id, NO_SEED);
      this.spread.touch(step.was?.group);
    }
    this.spread.touch(step?.now?.group);
    this.regroup(step?.was?.group);
    this.regroup(step?.now?.group);
    this.animated = Math.max(this.animated, now + LANDING + 0.1);
    this.ageing = now + AGEING;
    this.stale.live = this.stale.over = true;
    if (step?.now?.verdict === "outlier") this.widen([step.now]);
  }

  /** A hand turns the map. */
  orbit(dx: number, dy: number): void {
    this.camera.orbit(dx, dy);
    this.turned = true;
    // A lasso holds for the side from which it was drawn.
    this.scene.selected.outline = [];
    this.view();
  }

  /** What the whole map takes on the screen. In space that is a ball, so that turning needs no other view. */
  private extent(): Box {
    const { space, middle: [x, y], reach } = this.camera.turn;
    const ball = 0.82 * reach; // hardly a map fills the corners of its bounds
    return space ? { x0: x - ball, y0: y - ball, x1: x + ball, y1: y + ball } : boxOfBounds(this.look.map.bounds);
  }

  /** One of each group. */
  private *outliers(): Generator<Point> {
    for (const [first] of this.state.groups.values()) {
      const point = this.state.points.get(first);
      if (point) yield point;
    }
  }

  /** Outliers may land outside the map: the whole view takes them in. */
  private widen(points: Iterable<Point> = this.outliers()): void {
    const box = { ...this.camera.box };
    const { space, middle: [x, y, z] } = this.camera.turn;
    for (const point of points) {
      // In space, as far as it reaches from any side.
      const far = space ? Math.hypot(point.x - x, point.y - y, (point.z ?? 0) - z) : 0;
      const [px, py] = space ? [x, y] : [point.x, point.y];
      box.x0 = Math.min(box.x0, px - far);
      box.y0 = Math.min(box.y0, py - far);
      box.x1 = Math.max(box.x1, px + far);
      box.y1 = Math.max(box.y1, py + far);
    }
    if (this.camera.hold(box) && this.camera.auto) this.camera.reset(this.clock());
  }

  /** Goes to a place and marks it. */
  visit({ x, y, z, id }: Mark, zoom?: number): void {
    this.camera.visit({ x, y, z }, this.clock(), zoom);
    this.scene.beacon = { x, y, z, id, birth: this.clock() };
    this.view();
  }

  /** Goes to a group, as near as lets each member be seen. False when it is gone. */
  visitGroup(group: number): boolean {
    const [first] = this.state.groups.get(group) ?? [];
    const point = this.state.points.get(first);
    if (!point) return false;
    const zoom = (1.5 * this.spread.scaleFor(group, this.camera) * this.camera.zoom) / this.camera.scale;
    this.camera.visit(point, this.clock(), Math.min(Math.max(zoom, 2.2), 16));
    this.view();
    return true;
  }

  /** The cluster or `group-N` whose words are under the pointer. */
  named(x: number, y: number): { id: string; rect: Rect } | undefined {
    return this.renames ? this.overlay.named(x, y) : undefined;
  }

  /** Calls out clusters that the version brought which is shown now. */
  callOut(born: readonly { name: string; rows: number }[], seconds: number): void {
    this.scene.born = born.map(({ name, rows }) => ({ name, rows, until: this.clock() + seconds }));
    this.touch();
  }

  /** The group of several whose outline is under the pointer. */
  groupAt(x: number, y: number): number | null {
    if (this.look.off.has("outliers")) return null;
    const pad = 2 * dotRadius(this.camera, this.state.points.size);
    for (const [group, members] of this.state.groups) {
      const [first] = members;
      const point = members.size > 1 ? this.state.points.get(first) : undefined;
      if (!point) continue;
      const at = this.camera.toScreen(point.x, point.y, point.z);
      if (Math.hypot(at.x - x, at.y - y) < this.spread.reach(group, this.camera) + pad) return group;
    }
    return null;
  }

  fit(): void {
    this.camera.hold(this.extent());
    this.widen();
    this.camera.reset(this.clock());
    this.view();
  }

  /** The rows of the map on the plane that is looked at. */
  rows(): Flat {
    const { columns } = this.shown;
    const { turn } = this.camera;
    if (!turn.space) return columns;
    const at = `${turn.yaw} ${turn.pitch}`;
    if (this.flat?.at !== at) {
      const [x, y] = [new Float32Array(columns.rows), new Float32Array(columns.rows)];
      for (let row = 0; row < columns.rows; row++) ({ x: x[row], y: y[row] } = turn.plane(columns.x[row], columns.y[row], columns.z?.[row]));
      this.flat = { at, rows: { rows: columns.rows, x, y } };
      this.grid = null;
    }
    return this.flat.rows;
  }

  private index(): Grid {
    const rows = this.rows();
    this.grid ??= new Grid(rows);
    return this.grid;
  }

  /** How far a place of the plane is from the nearest row of the map. */
  private room({ x, y }: Place): number {
    const row = this.index().nearestAny(x, y);
    const rows = this.rows();
    return row < 0 ? Infinity : Math.hypot(rows.x[row] - x, rows.y[row] - y);
  }

  /** Where a live point is drawn. */
  screen(point: Point): Place {
    return this.spread.screen(point, this.camera);
  }

  /** What lies under the pointer: a live point before a row of the map. */
  pick(x: number, y: number): Picked {
    const reach = dotRadius(this.camera, this.state.points.size) + 5;
    let [best, least]: [Point | null, number] = [null, reach * reach];
    for (const point of this.state.points.values()) {
      const at = this.screen(point);
      const distance = (at.x - x) ** 2 + (at.y - y) ** 2;
      if (distance <= least && this.look.of(point)) [best, least] = [point, distance];
    }
    if (best) return { point: best };
    const place = this.camera.toPlane(x, y);
    const within = (this.base.radius(this.camera) + 3) / this.camera.scale;
    const row = this.index().nearest(place.x, place.y, within, (k) => this.look.showsRow(k));
    return row < 0 ? null : { row };
  }

  /** One frame: draws what has to be drawn, and nothing else. */
  frame(now: number, since: number): void {
    this.progress(now);
    if (this.camera.advance(now)) this.view();
    const moving = this.held || now - this.moved < REST;
    if (this.moving || this.refining) this.base.learn(since);
    if (this.moving && !moving) this.rest();
    this.moving = moving;
    if (now < this.animated) this.stale.live = this.stale.over = true;
    else if (now < this.ageing && now - this.drawn > AGE_STEP) this.stale.live = true;
    this.draw(now);
  }

  /** The view rests: all points are drawn, and members of groups have the room that they have from here. */
  private rest(): void {
    this.stale.base = true;
    if (this.turned) this.spread.touchAll();
    this.turned = false;
  }

  private draw(now: number): void {
    const { stale, camera, ratio } = this;
    this.scene.motion = !calm();
    if (stale.base) this.base.draw(camera, ratio, this.moving);
    else this.refining = this.base.refine(camera, ratio);
    this.spread.settle((id, seed) => {
      this.arrivals.seed(id, seed);
      stale.live = stale.over = true;
    });
    if (stale.live) {
      this.arrivals.draw(camera, ratio, now, this.themes.current, OUTLIER, this.scene.motion);
      this.drawn = now;
    }
    const over = stale.over;
    stale.base = stale.live = stale.over = false;
    if (over) stale.over = this.overlay.draw(this.scene, ratio, now);
  }

  /** The map as it is seen, as one picture. */
  picture(title: string, caption: string, legend: readonly Entry[]): HTMLCanvasElement {
    const { ratio, scene } = this;
    const { selected, lasso, hover, beacon } = scene;
    Object.assign(scene, { selected: { ...selected, outline: [] }, lasso: [], hover: null, beacon: null });
    this.moving = false;
    this.scale(2 * ratio);
    this.draw(this.clock());
    this.base.finish(this.camera, this.ratio);
    const picture = compose(this.layers, this.ratio, this.themes.current, title, caption, legend);
    Object.assign(scene, { selected, lasso, hover, beacon });
    this.scale(ratio);
    this.draw(this.clock());
    return picture;
  }

  /** Pixels of the canvases for each of the page. */
  private scale(ratio: number): void {
    this.ratio = ratio;
    for (const layer of this.layers) resizeCanvas(layer, this.camera.width, this.camera.height, ratio);
    this.all();
  }
}
