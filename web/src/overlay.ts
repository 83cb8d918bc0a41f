// What is drawn over the points: names, outlines of groups, callouts, trails, the selection and the lasso.

import type { Camera } from "./camera";
import type { Columns } from "./columns";
import { hull, type Place } from "./geometry";
import type { Look } from "./look";
import { css, OUTLIER, type Rgb } from "./palette";
import { dotRadius, type Spread } from "./spread";
import type { Gathering, State } from "./state";
import type { Theme } from "./theme";
import type { Trails } from "./trails";
import { count } from "./words";

const FONT = 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif';
/** Outlines of so many groups at most, the largest; and callouts of so many forming clusters. */
const OUTLINED = 200;
const CALLED = 4;
/** Selected points beyond this are not ringed one by one. */
const RINGED = 3000;
const ROWS_RINGED = 80;

interface Rect { x: number; y: number; width: number; height: number }

export interface Scene {
  camera: Camera;
  theme: Theme;
  state: State;
  look: Look;
  columns: Columns;
  trails: Trails;
  spread: Spread;
  /** The cluster that most members of a group are most like. */
  like(group: number): string | null;
  /** `outline`: the lasso that caught them, in the map's units. */
  selected: { ids: ReadonlySet<string>; rows: readonly number[]; outline: readonly Place[] };
  hover: Mark | null;
  lasso: readonly Place[];
  beacon: (Mark & { birth: number }) | null;
  motion: boolean;
}

/** A place to point at: that of a live point, while it is there, else one of the map. */
export interface Mark extends Place { id?: string }

/** Long names take too much of the map; the legend has them whole. */
const brief = (name: string): string => (name.length > 22 ? `${name.slice(0, 20)}…` : name);

const meets = (a: Rect, b: Rect): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

export class Overlay {
  readonly context: CanvasRenderingContext2D;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d") as CanvasRenderingContext2D;
  }

  /** Draws; true while something in it moves by itself. */
  draw(scene: Scene, ratio: number, now: number): boolean {
    const { context } = this;
    const { camera, state } = scene;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    const forming = scene.look.off.has("outliers") ? [] : state.forming().slice(0, CALLED);
    const names = this.nameRects(scene);
    const callouts = this.placeCallouts(scene, forming, names.map(({ rect }) => rect));
    const moving = scene.trails.draw(context, camera, scene.theme, now);
    this.groups(scene, forming, now);
    for (const name of names) {
      if (!callouts.some(({ rect }) => meets(rect, name.rect))) this.name(scene, name);
    }
    for (const callout of callouts) this.callout(scene, callout);
    this.selection(scene);
    if (scene.hover) this.ring(this.marked(scene, scene.hover), 10, scene.theme.ink, 2);
    const beacon = this.beacon(scene, now);
    this.polygon(scene.lasso, scene.theme, 0.12);
    return moving || beacon || (scene.motion && forming.length > 0);
  }

  // Names of the clusters, the larger first; those that would cover another are left out.
  private nameRects({ camera, look, state }: Scene): Name[] {
    const { context } = this;
    const taken: Name[] = [];
    if (look.off.has("base")) return taken;
    const clusters = [...look.map.clusters].sort((a, b) => Number(state.vanishing.has(b.name)) - Number(state.vanishing.has(a.name)) || b.rows - a.rows);
    context.font = `650 14px ${FONT}`;
    for (const { name, x, y } of clusters.slice(0, 400)) {
      if (look.hidden.has(name)) continue;
      const at = camera.toScreen(x, y);
      if (at.x < -50 || at.y < -20 || at.x > camera.width + 50 || at.y > camera.height + 20) continue;
      const vanishing = state.vanishing.has(name);
      const text = vanishing ? `${brief(name)} is vanishing` : brief(name);
      const width = context.measureText(text).width + (vanishing ? 20 : 8);
      // In its place, or a little beside it where another name is.
      const ways = [[0, 0], [0, -20], [0, 20], [-width, 0], [width, 0]];
      const free = ways.map(([dx, dy]) => ({ x: at.x - width / 2 + dx, y: at.y - 12 + dy, width, height: 24 }))
        .find((rect) => !taken.some((other) => meets(other.rect, rect)));
      if (free) taken.push({ text, rect: free, vanishing });
    }
    return taken;
  }

  private name({ theme }: Scene, { text, rect, vanishing }: Name): void {
    const { context } = this;
    const [x, y] = [rect.x + rect.width / 2, rect.y + rect.height / 2 + 1];
    context.font = `650 14px ${FONT}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    if (vanishing) {
      context.beginPath();
      context.roundRect(rect.x, rect.y, rect.width, rect.height, 12);
      context.fillStyle = css(theme.paper, 0.94);
      context.fill();
      context.setLineDash([4, 3]);
      context.strokeStyle = css(theme.faint);
      context.lineWidth = 1.5;
      context.stroke();
      context.setLineDash([]);
      context.fillStyle = css(theme.ink);
      context.fillText(text, x, y);
      return;
    }
    context.lineJoin = "round";
    context.lineWidth = 4;
    context.strokeStyle = css(theme.paper, 0.85);
    context.strokeText(text, x, y);
    context.fillStyle = css(theme.ink, 0.92);
    context.fillText(text, x, y);
  }

  // Outlier groups: an outline with the number of members; those that form a cluster glow.
  private groups(scene: Scene, forming: readonly Gathering[], now: number): void {
    const { context } = this;
    const { state, camera, look } = scene;
    if (look.off.has("outliers")) return;
    const called = new Set(forming.map(({ group }) => group));
    const groups = [...state.groups].filter(([, members]) => members.size > 1).sort((a, b) => b[1].size - a[1].size).slice(0, OUTLINED);
    for (const [group, members] of groups) {
      const places: Place[] = [];
      for (const id of members) {
        const point = state.points.get(id);
        if (point) places.push(scene.spread.screen(point, camera));
      }
      const isCalled = called.has(group);
      const pad = 2.4 * dotRadius(camera, state.points.size) + (isCalled ? 3 : 0);
      if (isCalled && scene.motion) {
        const beat = (now % 1.8) / 1.8;
        this.outline(places, pad + 16 * beat, css(OUTLIER, 0.7 * (1 - beat)), 2, []);
      }
      this.outline(places, pad, css(OUTLIER, isCalled ? 1 : 0.75), isCalled ? 2.4 : 1.4, isCalled ? [] : [4, 3], css(OUTLIER, isCalled ? 0.16 : 0.06));
      this.badge(scene, places, pad, `×${members.size}`);
    }
    context.setLineDash([]);
  }

  // A rounded shape around places: their hull, moved outwards.
  private outline(places: readonly Place[], pad: number, stroke: string, width: number, dash: number[], fill?: string): void {
    const { context } = this;
    const corners = hull(places);
    context.beginPath();
    if (corners.length < 3) {
      for (const { x, y } of corners.length === 2 && apart(corners) > 2 ? [] : corners.slice(0, 1)) context.arc(x, y, pad, 0, 7);
      if (corners.length === 2 && apart(corners) > 2) this.capsule(corners, pad);
    } else this.capsule(corners, pad);
    context.closePath();
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    context.setLineDash(dash);
    context.lineWidth = width;
    context.strokeStyle = stroke;
    context.stroke();
  }

  // Arcs around the corners of a convex shape, joined by straight lines. On the screen the hull runs clockwise reversed:
  // y points down, so its order is that of rising angles.
  private capsule(corners: readonly Place[], pad: number): void {
    const many = corners.length;
    corners.forEach((corner, k) => {
      const before = corners[(k + many - 1) % many];
      const next = corners[(k + 1) % many];
      const normal = (a: Place, b: Place) => Math.atan2(b.y - a.y, b.x - a.x) - Math.PI / 2;
      this.context.arc(corner.x, corner.y, pad, normal(before, corner), normal(corner, next));
    });
  }

  private badge({ theme }: Scene, places: readonly Place[], pad: number, text: string): void {
    const { context } = this;
    const x = Math.max(...places.map((place) => place.x)) + pad * 0.8 + 3;
    const y = Math.min(...places.map((place) => place.y)) - pad * 0.8;
    context.font = `650 11.5px ${FONT}`;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.setLineDash([]);
    context.lineWidth = 3.5;
    context.strokeStyle = css(theme.paper, 0.9);
    context.strokeText(text, x, y);
    context.fillStyle = css(theme.dark ? [255, 140, 100] : [190, 40, 0]);
    context.fillText(text, x, y);
  }

  // Where the words about each forming cluster go: inside the view, over as few names as can be.
  private placeCallouts(scene: Scene, forming: readonly Gathering[], names: readonly Rect[]): Callout[] {
    const { context } = this;
    const { camera } = scene;
    const taken: Rect[] = [{ x: camera.width - 60, y: camera.height - 160, width: 60, height: 160 }];
    for (const { x, y } of forming) {
      const at = camera.toScreen(x, y);
      taken.push({ x: at.x - 26, y: at.y - 26, width: 52, height: 52 });
    }
    const sample = forming.length > 0 ? this.sample(scene) : [];
    return forming.map((gathering) => {
      const place = camera.toScreen(gathering.x, gathering.y);
      const at = {
        x: Math.min(Math.max(place.x, 14), camera.width - 14),
        y: Math.min(Math.max(place.y, 14), camera.height - 14),
      };
      const like = scene.like(gathering.group);
      const title = "New cluster forming";
      const text = `${count(gathering.size, "outlier")}${like === null ? "" : `, most like ${brief(like)}`}`;
      context.font = `650 13.5px ${FONT}`;
      let width = context.measureText(title).width;
      context.font = `500 12.5px ${FONT}`;
      width = Math.max(width, context.measureText(text).width) + 26;
      const height = 46;
      const reach = 34;
      const ways: Place[] = [
        { x: at.x + reach, y: at.y - reach - height }, { x: at.x - reach - width, y: at.y - reach - height },
        { x: at.x + reach, y: at.y + reach }, { x: at.x - reach - width, y: at.y + reach },
        { x: at.x + reach + 10, y: at.y - height / 2 }, { x: at.x - reach - 10 - width, y: at.y - height / 2 },
        { x: at.x - width / 2, y: at.y - reach - 10 - height }, { x: at.x - width / 2, y: at.y + reach + 10 },
      ];
      const cost = (way: Place, k: number) => {
        const rect = { ...way, width, height };
        const out = Math.max(0, 8 - way.x, way.x + width + 8 - camera.width) + Math.max(0, 8 - way.y, way.y + height + 8 - camera.height);
        return out * 10 + taken.filter((other) => meets(other, rect)).length * 400 + names.filter((name) => meets(name, rect)).length * 60
          + sample.filter((dot) => meets(rect, { ...dot, width: 0, height: 0 })).length * 3 + k;
      };
      const best = ways.reduce((a, b) => (cost(b, ways.indexOf(b)) < cost(a, ways.indexOf(a)) ? b : a));
      const rect = {
        x: Math.min(Math.max(best.x, 8), camera.width - width - 8), y: Math.min(Math.max(best.y, 8), camera.height - height - 8), width, height,
      };
      taken.push(rect);
      return { rect, at, title, text, away: place.x !== at.x || place.y !== at.y };
    });
  }

  // A few rows of the map, and all groups of outliers, as they lie on the screen: words had better not cover them.
  private sample({ camera, columns, state }: Scene): Place[] {
    const step = Math.max(1, Math.floor(columns.rows / 1000));
    const places: Place[] = [];
    for (let row = 0; row < columns.rows; row += step) places.push(camera.toScreen(columns.x[row], columns.y[row]));
    for (const [first] of [...state.groups.values()].slice(-500)) {
      const point = state.points.get(first);
      if (!point) continue;
      // An outlier is as much to look at as a few rows.
      const at = camera.toScreen(point.x, point.y);
      places.push(at, at, at, at);
    }
    return places;
  }

  private callout({ theme }: Scene, { rect, at, title, text, away }: Callout): void {
    const { context } = this;
    const corner = { x: Math.min(Math.max(at.x, rect.x), rect.x + rect.width), y: Math.min(Math.max(at.y, rect.y), rect.y + rect.height) };
    const length = Math.max(apart([corner, at]), 1);
    const stop = away ? 0 : Math.min(22, length);
    context.beginPath();
    context.moveTo(corner.x, corner.y);
    context.lineTo(at.x + ((corner.x - at.x) * stop) / length, at.y + ((corner.y - at.y) * stop) / length);
    context.strokeStyle = css(OUTLIER);
    context.lineWidth = 2;
    context.stroke();
    if (away) {
      context.beginPath();
      context.arc(at.x, at.y, 5, 0, 7);
      context.fillStyle = css(OUTLIER);
      context.fill();
    }
    context.save();
    context.shadowColor = "rgb(0 0 0 / 25%)";
    context.shadowBlur = 14;
    context.shadowOffsetY = 3;
    context.beginPath();
    context.roundRect(rect.x, rect.y, rect.width, rect.height, 9);
    context.fillStyle = css(theme.dark ? [32, 26, 24] : [255, 255, 255]);
    context.fill();
    context.restore();
    context.lineWidth = 1.8;
    context.strokeStyle = css(OUTLIER);
    context.stroke();
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillStyle = css(theme.dark ? [255, 138, 96] : [196, 42, 0]);
    context.font = `650 13.5px ${FONT}`;
    context.fillText(title, rect.x + 13, rect.y + 20);
    context.fillStyle = css(theme.ink);
    context.font = `500 12.5px ${FONT}`;
    context.fillText(text, rect.x + 13, rect.y + 37);
  }

  private selection({ camera, state, columns, selected, theme, spread }: Scene): void {
    const { context } = this;
    context.beginPath();
    let drawn = 0;
    const ring = (at: Place, radius: number) => {
      if (at.x < 0 || at.y < 0 || at.x > camera.width || at.y > camera.height || drawn++ > RINGED) return;
      context.moveTo(at.x + radius, at.y);
      context.arc(at.x, at.y, radius, 0, 7);
    };
    const radius = dotRadius(camera, state.points.size);
    for (const id of selected.ids) {
      const point = state.points.get(id);
      if (point) ring(spread.screen(point, camera), radius + 3);
    }
    context.lineWidth = 1.8;
    context.strokeStyle = css(theme.accent);
    context.stroke();
    context.beginPath();
    for (const row of selected.rows.length > ROWS_RINGED ? [] : selected.rows) ring(camera.toScreen(columns.x[row], columns.y[row]), Math.max(radius - 1, 2.5));
    context.lineWidth = 1;
    context.stroke();
    this.polygon(selected.outline.map(({ x, y }) => camera.toScreen(x, y)), theme, 0.07);
  }

  private ring(at: Place, radius: number, colour: Rgb, width: number): void {
    const { context } = this;
    context.beginPath();
    context.arc(at.x, at.y, radius, 0, 7);
    context.lineWidth = width;
    context.strokeStyle = css(colour);
    context.stroke();
  }

  private marked({ camera, state, spread }: Scene, { x, y, id }: Mark): Place {
    const point = id === undefined ? undefined : state.points.get(id);
    return point ? spread.screen(point, camera) : camera.toScreen(x, y);
  }

  // Shows where one flew to.
  private beacon(scene: Scene, now: number): boolean {
    const { beacon, theme, motion } = scene;
    if (!beacon || now > beacon.birth + 2.4) return false;
    const at = this.marked(scene, beacon);
    const share = (now - beacon.birth) / 2.4;
    const radius = motion ? 14 + 26 * (1 - ((share * 3) % 1)) : 20;
    this.ring(at, radius, theme.accent, 2.5);
    return true;
  }

  private polygon(places: readonly Place[], theme: Theme, fill: number): void {
    if (places.length < 2) return;
    const { context } = this;
    context.beginPath();
    for (const { x, y } of places) context.lineTo(x, y);
    context.closePath();
    context.fillStyle = css(theme.accent, fill);
    context.fill();
    context.setLineDash([5, 4]);
    context.lineWidth = 1.6;
    context.strokeStyle = css(theme.accent);
    context.stroke();
    context.setLineDash([]);
  }
}

interface Name { text: string; rect: Rect; vanishing: boolean }
interface Callout { rect: Rect; at: Place; title: string; text: string; away: boolean }

const apart = ([a, b]: readonly Place[]): number => Math.hypot(a.x - b.x, a.y - b.y);
