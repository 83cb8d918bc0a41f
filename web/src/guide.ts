// Leads to what somebody pointed at, and tells about it: flies there, selects it, shows its card.

import { Card, type CardSource, type Target } from "./card";
import { byId } from "./dom";
import type { Place, Spot } from "./geometry";
import type { Look } from "./look";
import type { Mark } from "./overlay";
import type { Found } from "./search";
import type { Selection } from "./selection";
import type { Picked, Stage } from "./stage";
import type { State } from "./state";
import { isNotice, type ComparedPoint, type LiveEvent, type UpdatedEvent } from "./types";
import type { Versions } from "./versions";
import { legible, type Alarm } from "./words";

export class Guide {
  private readonly card: Card;
  private pinned: Target | null = null;
  private hovering = false;

  constructor(
    private readonly stage: Stage,
    private readonly state: State,
    private readonly versions: Versions,
    private readonly look: Look,
    private readonly selection: Selection,
    private readonly announce: (text: string) => void,
    source?: CardSource,
  ) {
    this.card = new Card(byId("card"), look.map.image, look.map.clusters_from === "labels", (name) => look.title(name), () => look.clustered, () => versions.current, () => this.unpin(), source);
  }

  /** Another version of the map is shown. */
  renew(): void {
    this.card.forget();
    this.unpin();
    this.card.hide();
  }

  /** Whether a card is pinned. */
  get holds(): boolean {
    return this.pinned !== null;
  }

  hover(picked: Picked, x: number, y: number): void {
    const { scene, camera } = this.stage;
    const at: Mark | null = picked && ("point" in picked ? picked.point : this.rowAt(picked.row));
    if (at?.x !== scene.hover?.x || at?.y !== scene.hover?.y || at?.z !== scene.hover?.z || at?.id !== scene.hover?.id) {
      scene.hover = at && { x: at.x, y: at.y, z: at.z, id: at.id };
      this.stage.touch();
    }
    this.hovering = picked !== null;
    if (picked) this.card.show(this.target(picked), x, y, camera.width, camera.height);
    else if (!this.pinned) this.card.hide();
  }

  // A card that stays, beside what it is about, until it is closed.
  private pin(target: Target): void {
    this.pinned = target;
    const id = legible(target.kind === "point" ? target.point.id : target.id);
    this.announce(target.kind === "point" ? `${id}, ${target.point.verdict}` : target.kind === "row" ? `${id}, row of the map` : `${id} is not on the map any more`);
  }

  unpin(): void {
    this.pinned = null;
    if (!this.hovering) this.card.hide();
  }

  /** Once a frame: the pinned card stays beside what it is about, wherever that goes. */
  frame(): void {
    if (!this.pinned || this.hovering) return;
    const { camera } = this.stage;
    if (this.pinned.kind === "point") {
      const { point } = this.pinned;
      const now = this.state.points.get(point.id);
      this.pinned = now ? { kind: "point", point: now } : { kind: "gone", id: point.id, past: point, t: null };
    }
    const { pinned } = this;
    const spot = pinned.kind === "row" ? this.rowAt(pinned.row) : pinned.kind === "gone" ? pinned.past : pinned.point;
    const at = pinned.kind === "point" ? this.stage.screen(pinned.point) : camera.toScreen(spot.x, spot.y, spot.z);
    this.card.show(pinned, at.x, at.y, camera.width, camera.height, true);
  }

  private rowAt(row: number): Spot {
    const { x, y, z } = this.versions.shown.columns;
    return { x: x[row], y: y[row], z: z?.[row] };
  }

  private target(picked: NonNullable<Picked>): Target {
    if ("point" in picked) return { kind: "point", point: picked.point };
    const { row } = picked;
    return { kind: "row", row, id: this.versions.shown.columns.ids.at(row), cluster: this.look.clusterOfRow(row) };
  }

  click(picked: Picked, at: Place): void {
    const group = picked === null ? this.stage.groupAt(at.x, at.y) : null;
    this.unpin();
    if (group !== null) this.goGroup(group);
    else if (picked === null) this.selection.clear();
    else {
      if ("point" in picked) this.selection.choose([picked.point.id], []);
      else this.selection.choose([], [picked.row]);
      this.pin(this.target(picked));
    }
  }

  goPoint(id: string): void {
    const point = this.state.points.get(id);
    if (!point) return this.announce(`${legible(id)} is not on the map at this moment.`);
    this.stage.visit(point);
    this.pin({ kind: "point", point });
  }

  /** To where a point was last, that may have been removed at `t`. */
  private goGone(id: string, past: Extract<Target, { kind: "gone" }>["past"], t: number | null): void {
    this.stage.visit({ x: past.x, y: past.y, z: past.z });
    this.pin({ kind: "gone", id, past, t });
  }

  /** To a point that was compared, if it is there now; else to where it was then. */
  goCompared(point: ComparedPoint, left: boolean): void {
    if (this.state.points.has(point.id)) this.goFound({ id: point.id, row: null });
    else this.goGone(point.id, point, left ? point.t : null);
  }

  goCluster(name: string): void {
    const centre = this.look.centre(name);
    if (centre) this.stage.visit(centre, 2);
  }

  goRow(row: number): void {
    this.stage.visit(this.rowAt(row));
    this.pin(this.target({ row }));
  }

  goFound(found: Found): void {
    if (found.row === null) {
      this.selection.choose([found.id], []);
      this.goPoint(found.id);
    } else {
      this.selection.choose([], [found.row]);
      this.goRow(found.row);
    }
  }

  /** To a group, with all its members selected. */
  private goGroup(group: number): boolean {
    if (!this.stage.visitGroup(group)) return false;
    this.unpin();
    this.selection.choose([...(this.state.groups.get(group) ?? [])], []);
    return true;
  }

  /** To the cluster that a new version has and the one before had not. */
  private goBorn({ clusters: { born } }: UpdatedEvent): void {
    if (born.length > 0) this.goCluster(born[0].name);
  }

  goAlarm({ group, x, y, z }: Alarm): void {
    if (group !== undefined && this.goGroup(group)) return;
    if (x !== undefined && y !== undefined) this.stage.visit({ x, y, z }, 2.2);
  }

  /** To where an event happened, or to where its point is now. */
  go(event: LiveEvent): void {
    if (isNotice(event)) {
      if (event.kind === "map-updated") return this.goBorn(event);
      const group = "group" in event ? event.group : null;
      if (group !== null && !this.goGroup(group) && "x" in event) this.stage.visit(event);
      if ("cluster" in event && event.cluster !== null) this.goCluster(event.cluster);
      return;
    }
    if (this.state.points.has(event.id)) return this.goPoint(event.id);
    const removed = event.kind === "removed";
    this.goGone(event.id, removed ? event.from : event, removed ? event.t : null);
  }
}
