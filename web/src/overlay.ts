// What is drawn over the points: names, outlines of groups, callouts, trails, the selection and the lasso.

import { nearest, placeCallouts, type Callout, type Subject } from "./callouts";
import type { Camera } from "./camera";
import { ARROWS, shares } from "./differences";
import { drawAxes, roomOfAxes } from "./axes";
import type { LevelNames, NamedCluster } from "./explained";
import { boxOf, hull, meets, type Place, type Rect, type Spot } from "./geometry";
import type { Look } from "./look";
import type { Stages } from "./morph";
import { roomForName } from "./names";
import { css, OUTLIER, type Rgb } from "./palette";
import { beside, drawShading, type Shading } from "./shading";
import { dotRadius, type Spread } from "./spread";
import type { Gathering, State } from "./state";
import type { Theme } from "./theme";
import type { Trails } from "./trails";
import type { ComparedCluster } from "./types";
import type { Version } from "./versions";
import { count, legible, number } from "./words";

const FONT = 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif';
/** Outlines of so many groups at most, the largest; and callouts of so many forming clusters. */
const OUTLINED = 200;
const CALLED = 4;
/** Single outliers that callouts keep clear of: the latest. */
const ALONE = 500;
/** Rings of more selected points than this would hide the map: they are dots, and each leaves the colour of its point to be seen. */
const RINGED = 3000;
const ROWS_RINGED = 80;

export interface Scene {
  camera: Camera;
  theme: Theme;
  state: State;
  look: Look;
  shown: Version;
  trails: Trails;
  spread: Spread;
  /** The names of clusters at all levels of detail. */
  explained: LevelNames;
  /** The cluster that most members of a group are most like. */
  like(group: number): string | null;
  /** `outline`: the lasso that caught them, on the plane that is looked at. */
  selected: { ids: ReadonlySet<string>; rows: readonly number[]; outline: readonly Place[] };
  /** Parts of the screen that lie over the map in their own right. */
  kept: readonly Rect[];
  hover: Mark | null;
  lasso: readonly Place[];
  beacon: (Mark & { birth: number }) | null;
  /** While the map morphs: how far it is, and where the middle of a cluster is on its way; undefined where it has not been before. */
  morph: { stages: Stages; place(name: string, to: Spot): Spot | undefined } | null;
  /** Clusters that the latest version brought, called out for a while. */
  born: readonly { name: string; rows: number; until: number }[];
  /** What changed between two stretches of time that are compared: regions, and clusters by name. */
  compared: { shading: Shading | null; clusters: ReadonlyMap<string, ComparedCluster> } | null;
  motion: boolean;
}

/** A place to point at: that of a live point, while it is there, else one of the map. */
export interface Mark extends Spot { id?: string }

/** Long names take too much of the map; the legend has them whole. */
const brief = (name: string): string => legible([...name].length > 32 ? `${[...name].slice(0, 30).join("")}…` : name);

export class Overlay {
  readonly context: CanvasRenderingContext2D;
  /** What was drawn that can be pressed. */
  private targets: { names: readonly Name[]; callouts: readonly Callout[] } = { names: [], callouts: [] };

  constructor(readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d") as CanvasRenderingContext2D;
  }

  /** Draws; true while something in it moves by itself. */
  draw(scene: Scene, ratio: number, now: number): boolean {
    const { context } = this;
    const { camera, state } = scene;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    if (scene.compared?.shading) drawShading(context, camera, scene.theme, scene.compared.shading);
    const forming = scene.look.off.has("outliers") ? [] : state.forming().slice(0, CALLED);
    const names = this.nameRects(scene);
    const shapes = this.shapes(scene);
    const born = scene.morph ? [] : scene.born.filter(({ until }) => now < until);
    const callouts = this.callouts(scene, forming, born, shapes, names);
    const moving = scene.trails.draw(context, camera, scene.theme, now);
    this.groups(scene, shapes, forming, now);
    drawAxes(context, camera, scene.theme, FONT);
    for (const name of names) {
      if (!callouts.some(({ rect }) => meets(rect, name.rect))) this.name(scene, name);
    }
    for (const callout of callouts) this.leader(callout, scene.theme);
    for (const callout of callouts) this.callout(scene, callout);
    this.selection(scene);
    if (scene.hover) this.ring(this.marked(scene, scene.hover), 10, scene.theme.ink, 2);
    const beacon = this.beacon(scene, now);
    this.polygon(scene.lasso, scene.theme, 0.12);
    this.targets = { names, callouts };
    return moving || beacon || born.length > 0 || (scene.motion && forming.length > 0);
  }

  /** The cluster or `group-N` whose words are at a place of the screen. */
  named(x: number, y: number): { id: string; rect: Rect } | undefined {
    const here = { x, y, width: 1, height: 1 };
    const callout = this.targets.callouts.find(({ rect }) => meets(rect, here));
    if (callout) return callout;
    const name = this.targets.names.find(({ rect }) => meets(rect, here));
    return name && name.id !== null ? { id: name.id, rect: name.rect } : undefined;
  }

  // Names of the clusters, the larger first; those that would cover another are left out.
  private nameRects({ camera, look, state, morph, compared, explained, kept }: Scene): Name[] {
    const { context } = this;
    const taken: Name[] = [];
    if (look.off.has("base")) return taken;
    const first = ({ name }: { name: string }) => Number(state.vanishing.has(name) || compared?.clusters.has(name));
    const known = look.map.clusters.filter(({ colour }) => !colour);
    const clusters: NamedCluster[] = (morph ? [...known] : explained.at(camera.zoom, known, first)).sort((a, b) => first(b) - first(a) || b.rows - a.rows);
    context.font = `650 14px ${FONT}`;
    for (const { name, own, x, y, z } of clusters.slice(0, 400)) {
      if (own === undefined ? look.hidden.has(name) : look.hidesMerged(own)) continue;
      const way = morph?.place(name, { x, y, z });
      if (morph && !way && morph.stages.grown === 0) continue;
      const spot = way ?? { x, y, z };
      const at = camera.toScreen(spot.x, spot.y, spot.z);
      if (at.x < 0 || at.y < 0 || at.x > camera.width || at.y > camera.height) continue;
      const vanishing = state.vanishing.has(name);
      const title = brief(own ?? look.title(name));
      const differs = compared?.clusters.get(name);
      const change = differs?.change ?? null;
      const text = differs && change ? `${title} ${ARROWS[change]} ${shares(differs)}` : vanishing ? `${title} is vanishing` : title;
      const width = context.measureText(text).width + (vanishing || change ? 20 : 8);
      const middle = { x: at.x - width / 2, y: at.y - 12, width, height: 24 };
      const home = change && compared?.shading ? beside(middle, camera, compared.shading) : middle;
      const free = roomForName(home, camera, [...kept, ...taken.map(({ rect }) => rect)]);
      // One of another level has no title of its own to give.
      if (free) taken.push({ id: own === undefined ? name : null, text, rect: free, vanishing, change });
    }
    return taken;
  }

  private name({ theme }: Scene, { text, rect, vanishing, change }: Name): void {
    const { context } = this;
    const [x, y] = [rect.x + rect.width / 2, rect.y + rect.height / 2 + 1];
    context.font = `650 14px ${FONT}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    if (vanishing || change) {
      context.beginPath();
      context.roundRect(rect.x, rect.y, rect.width, rect.height, 12);
      context.fillStyle = css(theme.paper, 0.94);
      context.fill();
      if (!change) context.setLineDash([4, 3]);
      context.strokeStyle = css(change ? theme[change] : theme.faint);
      context.lineWidth = change ? 2 : 1.5;
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

  // Outlier groups of more than one, as they are drawn: where each member is, and where their number is told.
  private shapes(scene: Scene): Shape[] {
    const { context } = this;
    const { state, camera, look, spread } = scene;
    if (look.off.has("outliers")) return [];
    const groups = [...state.groups].filter(([, members]) => members.size > 1).sort((a, b) => b[1].size - a[1].size).slice(0, OUTLINED);
    context.font = `650 11.5px ${FONT}`;
    return groups.map(([group, members]) => {
      const places: Place[] = [];
      for (const id of members) {
        const point = state.points.get(id);
        if (point) places.push(spread.screen(point, camera));
      }
      const pad = 2.4 * dotRadius(camera, state.points.size) + (state.isForming(group) ? 3 : 0);
      const { x0, y0, x1, y1 } = boxOf(places);
      const box = { x: x0 - pad, y: y0 - pad, width: x1 - x0 + 2 * pad, height: y1 - y0 + 2 * pad };
      const text = `×${members.size}`;
      // At the upper right of the outline, which is nearly round.
      const badge = { x: x0 / 2 + x1 / 2 + box.width * 0.36 + 4, y: y0 / 2 + y1 / 2 - box.height * 0.36 - 15, width: context.measureText(text).width, height: 14 };
      return { group, places, pad, box, badge, text };
    });
  }

  // An outline with the number of members; those that form a cluster glow.
  private groups(scene: Scene, shapes: readonly Shape[], forming: readonly Gathering[], now: number): void {
    const called = new Set(forming.flatMap(({ groups }) => groups));
    for (const { group, places, pad, badge, text } of shapes) {
      const isCalled = called.has(group);
      if (isCalled && scene.motion) {
        const beat = (now % 1.8) / 1.8;
        this.outline(places, pad + 10 * beat, css(OUTLIER, 0.7 * (1 - beat)), 2, []);
      }
      this.outline(places, pad, css(OUTLIER, isCalled ? 1 : 0.75), isCalled ? 2.4 : 1.4, isCalled ? [] : [4, 3], css(OUTLIER, isCalled ? 0.12 : 0.06));
      this.badge(scene, badge, text);
    }
    this.context.setLineDash([]);
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

  private badge({ theme }: Scene, { x, y: top, height }: Rect, text: string): void {
    const { context } = this;
    const y = top + height / 2;
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

  // The words about each forming cluster.
  private callouts(scene: Scene, forming: readonly Gathering[], born: Scene["born"], shapes: readonly Shape[], names: readonly Name[]): Callout[] {
    if (forming.length + born.length === 0) return [];
    const { look, state } = scene;
    const subjects: Subject[] = born.flatMap(({ name, rows }) => {
      const centre = look.centre(name);
      if (!centre) return [];
      const [title, text] = [`New cluster: ${brief(look.title(name))}`, `${count(rows, "row")} taken into the map`];
      return { id: name, tone: "born", at: scene.camera.toScreen(centre.x, centre.y, centre.z), reach: 16, title, text, width: this.widthOf(title, text) };
    });
    subjects.push(...forming.map(({ group, groups, size, x, y, z }): Subject => {
      const like = scene.like(group);
      const label = state.labelOf(groups);
      const own = state.titles.get(`group-${group}`);
      const title = own === undefined ? "New cluster forming" : `${brief(own)}, forming`;
      const says = label ? `, ${number(label.count)} labelled ${brief(label.label)}` : like === null ? "" : `, most like ${brief(look.title(like))}`;
      const text = `${count(size, "outlier")}${says}`;
      const width = this.widthOf(title, text);
      // At its largest group: shapes come with the largest first.
      const shape = shapes.find((one) => groups.includes(one.group));
      const at = shape ? { x: shape.box.x + shape.box.width / 2, y: shape.box.y + shape.box.height / 2 } : scene.camera.toScreen(x, y, z);
      return { id: `group-${group}`, tone: "forming", at, reach: shape ? shape.box.width / 2 : 12, title, text, width };
    }));
    const hard = [...scene.kept, ...roomOfAxes(scene.camera), ...shapes.flatMap(({ box, badge }) => [box, badge]), ...this.alone(scene)];
    return placeCallouts(subjects, scene.camera, hard, names.map(({ rect }) => rect), this.sample(scene));
  }

  private widthOf(title: string, text: string): number {
    const { context } = this;
    context.font = `650 13.5px ${FONT}`;
    const width = context.measureText(title).width;
    context.font = `500 12.5px ${FONT}`;
    return Math.max(width, context.measureText(text).width) + 26;
  }

  // Outliers that are in no group of several, each with its ring.
  private alone({ camera, state }: Scene): Rect[] {
    const reach = 2.1 * dotRadius(camera, state.points.size) + 2;
    const rects: Rect[] = [];
    for (const members of [...state.groups.values()].slice(-ALONE)) {
      const [first] = members;
      const point = members.size === 1 ? state.points.get(first) : undefined;
      if (!point) continue;
      const at = camera.toScreen(point.x, point.y, point.z);
      rects.push({ x: at.x - reach, y: at.y - reach, width: 2 * reach, height: 2 * reach });
    }
    return rects;
  }

  // A few rows of the map as they lie on the screen: words had better not cover them.
  private sample({ camera, shown: { columns } }: Scene): Place[] {
    const step = Math.max(1, Math.floor(columns.rows / 600));
    const places: Place[] = [];
    for (let row = 0; row < columns.rows; row += step) places.push(camera.toScreen(columns.x[row], columns.y[row], columns.z?.[row]));
    return places;
  }

  // The line from a callout to what it is about.
  private leader({ rect, at, reach, away, tone }: Callout, theme: Theme): void {
    const { context } = this;
    const corner = nearest(rect, at);
    const length = Math.max(apart([corner, at]), 1);
    const stop = Math.min(reach, length);
    context.beginPath();
    context.moveTo(corner.x, corner.y);
    context.lineTo(at.x + ((corner.x - at.x) * stop) / length, at.y + ((corner.y - at.y) * stop) / length);
    context.strokeStyle = css(tone === "born" ? theme.accent : OUTLIER);
    context.lineWidth = 2;
    context.stroke();
    if (away) {
      context.beginPath();
      context.arc(at.x, at.y, 5, 0, 7);
      context.fillStyle = css(OUTLIER);
      context.fill();
    }
  }

  private callout({ theme }: Scene, { rect, title, text, tone }: Callout): void {
    const { context } = this;
    context.save();
    context.shadowColor = "rgb(0 0 0 / 25%)";
    context.shadowBlur = 14;
    context.shadowOffsetY = 3;
    context.beginPath();
    context.roundRect(rect.x, rect.y, rect.width, rect.height, 9);
    const born = tone === "born";
    context.fillStyle = css(theme.dark ? (born ? [22, 28, 34] : [32, 26, 24]) : [255, 255, 255]);
    context.fill();
    context.restore();
    context.lineWidth = 1.8;
    context.strokeStyle = css(born ? theme.accent : OUTLIER);
    context.stroke();
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillStyle = css(born ? theme.accent : theme.dark ? [255, 138, 96] : [196, 42, 0]);
    context.font = `650 13.5px ${FONT}`;
    context.fillText(title, rect.x + 13, rect.y + 20);
    context.fillStyle = css(theme.ink);
    context.font = `500 12.5px ${FONT}`;
    context.fillText(text, rect.x + 13, rect.y + 37);
  }

  private selection({ camera, state, shown: { columns }, selected, theme, spread }: Scene): void {
    const { context } = this;
    context.beginPath();
    context.strokeStyle = context.fillStyle = css(theme.accent);
    const crowd = selected.ids.size > RINGED;
    const ring = (at: Place, radius: number) => {
      if (at.x < 0 || at.y < 0 || at.x > camera.width || at.y > camera.height) return;
      // Squares, one by one: 30000 take 36 ms, and as one path three times as long.
      if (crowd) return context.fillRect(at.x - 1, at.y - 1, 2, 2);
      context.moveTo(at.x + radius, at.y);
      context.arc(at.x, at.y, radius, 0, 7);
    };
    const radius = dotRadius(camera, state.points.size);
    const many = selected.ids.size > 12; // their rings must not hide each other
    for (const id of selected.ids) {
      const point = state.points.get(id);
      if (point) ring(spread.screen(point, camera), radius + (many ? 1 : 3));
    }
    context.lineWidth = many ? 1.2 : 1.8;
    context.stroke();
    context.beginPath();
    for (const row of selected.rows.length > ROWS_RINGED ? [] : selected.rows) ring(camera.toScreen(columns.x[row], columns.y[row], columns.z?.[row]), Math.max(radius - 1, 2.5));
    context.lineWidth = 1;
    context.stroke();
    this.polygon(selected.outline.map((place) => camera.planeToScreen(place)), theme, 0.07);
  }

  private ring(at: Place, radius: number, colour: Rgb, width: number): void {
    const { context } = this;
    context.beginPath();
    context.arc(at.x, at.y, radius, 0, 7);
    context.lineWidth = width;
    context.strokeStyle = css(colour);
    context.stroke();
  }

  private marked({ camera, state, spread }: Scene, { x, y, z, id }: Mark): Place {
    const point = id === undefined ? undefined : state.points.get(id);
    return point ? spread.screen(point, camera) : camera.toScreen(x, y, z);
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

interface Name { id: string | null; text: string; rect: Rect; vanishing: boolean; change: "gained" | "lost" | null }
interface Shape { group: number; places: Place[]; pad: number; box: Rect; badge: Rect; text: string }

const apart = ([a, b]: readonly Place[]): number => Math.hypot(a.x - b.x, a.y - b.y);
