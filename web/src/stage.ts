// The map on the screen: its layers, the camera, and when what is drawn again.

import { AGEING, ArrivalLayer, LANDING, type Arrivals } from "./arrivals";
import { BaseLayer, type Base } from "./base";
import { Camera } from "./camera";
import type { Columns } from "./columns";
import { byId } from "./dom";
import { boxOfBounds, type Place } from "./geometry";
import { context, resizeCanvas } from "./gl";
import { Grid } from "./grid";
import type { Look } from "./look";
import { Overlay, type Mark, type Scene } from "./overlay";
import { OUTLIER } from "./palette";
import { compose, type Entry } from "./poster";
import { PlainArrivals, PlainBase } from "./plain";
import { dotRadius, NO_SEED, Spread } from "./spread";
import type { Point, State, Step } from "./state";
import { calm, type Themes } from "./theme";
import { Trails } from "./trails";
import { isNotice, type LiveEvent } from "./types";

/** After the view has rested for so many seconds, all points are drawn. */
const REST = 0.14;
/** Ageing is slow: while nothing else moves, so many seconds may pass between frames. */
const AGE_STEP = 0.2;

export type Picked = { point: Point } | { row: number } | null;

export class Stage {
  readonly camera = new Camera();
  readonly root = byId("stage");
  readonly canvas = byId<HTMLCanvasElement>("over");
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
  /** Whether a hand is on the map: then it may move at any moment. */
  held = false;
  private grid: Grid | null = null;

  constructor(
    private readonly columns: Columns,
    private readonly state: State,
    private readonly look: Look,
    private readonly themes: Themes,
    private readonly clock: () => number,
  ) {
    const redraw = () => this.recolour();
    const [below, above] = [byId<HTMLCanvasElement>("base"), byId<HTMLCanvasElement>("live")];
    const [under, over] = [context(below, true), context(above)];
    this.base = under ? new BaseLayer(under, columns, redraw) : new PlainBase(below, columns);
    this.arrivals = over ? new ArrivalLayer(over, redraw) : new PlainArrivals(above);
    this.overlay = new Overlay(this.canvas);
    this.spread = new Spread(state, (x, y) => this.room(x, y));
    this.scene = {
      camera: this.camera, theme: themes.current, state, look, columns, trails: this.trails, spread: this.spread, like: () => null,
      selected: { ids: new Set(), rows: [], outline: [] }, kept: [], hover: null, lasso: [], beacon: null, motion: !calm(),
    };
    themes.onChange(redraw);
    this.camera.hold(boxOfBounds(look.map.bounds));
    this.recolour();
    new ResizeObserver(() => this.resize()).observe(this.root);
    this.resize();
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

  private settle(point: Point, t: number): void {
    const now = this.clock();
    const age = Math.max(t - point.t, 0);
    this.arrivals.put(point, this.look.of(point), this.alone(point), now - Math.max(age, LANDING));
    this.ageing = Math.max(this.ageing, now + AGEING - age);
  }

  /** Points as they are after a jump through time: no animation. */
  jump(ids: ReadonlySet<string>, t: number): void {
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
      this.spread.touch(step.now?.group);
    }
    this.regroup(step?.was?.group);
    this.regroup(step?.now?.group);
    this.animated = Math.max(this.animated, now + LANDING + 0.1);
    this.ageing = now + AGEING;
    this.stale.live = this.stale.over = true;
    if (step?.now?.verdict === "outlier") this.widen([step.now]);
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
    for (const point of points) {
      box.x0 = Math.min(box.x0, point.x);
      box.y0 = Math.min(box.y0, point.y);
      box.x1 = Math.max(box.x1, point.x);
      box.y1 = Math.max(box.y1, point.y);
    }
    if (this.camera.hold(box) && this.camera.auto) this.camera.reset(this.clock());
  }

  /** Goes to a place and marks it. */
  visit({ x, y, id }: Mark, zoom?: number): void {
    this.camera.visit(x, y, this.clock(), zoom);
    this.scene.beacon = { x, y, id, birth: this.clock() };
    this.view();
  }

  /** Goes to a group, as near as lets each member be seen. False when it is gone. */
  visitGroup(group: number): boolean {
    const [first] = this.state.groups.get(group) ?? [];
    const point = this.state.points.get(first);
    if (!point) return false;
    const zoom = (1.5 * this.spread.scaleFor(group, this.camera) * this.camera.zoom) / this.camera.scale;
    this.camera.visit(point.x, point.y, this.clock(), Math.min(Math.max(zoom, 2.2), 16));
    this.view();
    return true;
  }

  /** The group of several whose outline is under the pointer. */
  groupAt(x: number, y: number): number | null {
    if (this.look.off.has("outliers")) return null;
    const pad = 2 * dotRadius(this.camera, this.state.points.size);
    for (const [group, members] of this.state.groups) {
      const [first] = members;
      const point = members.size > 1 ? this.state.points.get(first) : undefined;
      if (!point) continue;
      const at = this.camera.toScreen(point.x, point.y);
      if (Math.hypot(at.x - x, at.y - y) < this.spread.reach(group, this.camera) + pad) return group;
    }
    return null;
  }

  fit(): void {
    this.camera.hold(boxOfBounds(this.look.map.bounds));
    this.widen();
    this.camera.reset(this.clock());
    this.view();
  }

  private index(): Grid {
    this.grid ??= new Grid(this.columns);
    return this.grid;
  }

  /** How far a place is from the nearest row of the map. */
  private room(x: number, y: number): number {
    const row = this.index().nearestAny(x, y);
    return row < 0 ? Infinity : Math.hypot(this.columns.x[row] - x, this.columns.y[row] - y);
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
    const place = this.camera.toMap(x, y);
    const within = (this.base.radius(this.camera) + 3) / this.camera.scale;
    const row = this.index().nearest(place.x, place.y, within, (k) => this.look.showsRow(this.columns, k));
    return row < 0 ? null : { row };
  }

  /** One frame: draws what has to be drawn, and nothing else. */
  frame(now: number, since: number): void {
    if (this.camera.advance(now)) this.view();
    const moving = this.held || now - this.moved < REST;
    if (this.moving || this.refining) this.base.learn(since);
    if (this.moving && !moving) this.stale.base = true;
    this.moving = moving;
    if (now < this.animated) this.stale.live = this.stale.over = true;
    else if (now < this.ageing && now - this.drawn > AGE_STEP) this.stale.live = true;
    this.draw(now);
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
    const layers = ["base", "live", "over"].map((id) => byId<HTMLCanvasElement>(id));
    const picture = compose(layers, this.ratio, this.themes.current, title, caption, legend);
    Object.assign(scene, { selected, lasso, hover, beacon });
    this.scale(ratio);
    this.draw(this.clock());
    return picture;
  }

  /** Pixels of the canvases for each of the page. */
  private scale(ratio: number): void {
    this.ratio = ratio;
    for (const id of ["base", "live", "over"]) resizeCanvas(byId<HTMLCanvasElement>(id), this.camera.width, this.camera.height, ratio);
    this.all();
  }
}
