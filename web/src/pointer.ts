// Mouse, finger and pen on the map: pan, zoom, hover, click and lasso.

import { byId } from "./dom";
import type { Place, Rect } from "./geometry";
import type { Picked, Stage } from "./stage";

const CLICK = 5; // pixels that a press may wander and still be a click

export interface PointerWays {
  hover(picked: Picked, x: number, y: number): void;
  click(picked: Picked, at: Place): void;
  /** The words about a cluster or `group-N` were pressed. */
  name(id: string, rect: Rect): void;
  /** A polygon on the screen. */
  lasso(polygon: Place[]): void;
}

export class Pointer {
  private readonly down = new Map<number, Place>();
  private start: Place | null = null;
  private path: Place[] | null = null;
  private resting: Place | null = null;
  private lassoOn = false;
  /** Whether a drag turns a map in space; else it moves it. The right button does the other. */
  private turning = true;
  private other = false;
  private readonly hint = byId("turn-hint");

  constructor(private readonly stage: Stage, private readonly button: HTMLButtonElement, private readonly turn: HTMLButtonElement, private readonly ways: PointerWays) {
    const { canvas } = stage;
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", (event) => this.release(event));
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("dblclick", (event) => {
      const at = this.at(event);
      stage.camera.zoomAt(2, at.x, at.y);
      stage.view();
    });
    canvas.addEventListener("contextmenu", (event) => this.space && event.preventDefault());
    button.addEventListener("click", () => this.setLasso(!this.lassoOn));
    turn.addEventListener("click", () => this.toggleTurn());
    turn.hidden = this.hint.hidden = !this.space;
  }

  private get space(): boolean {
    return this.stage.camera.turn.space;
  }

  toggleTurn(): void {
    this.turning = !this.turning;
    this.turn.setAttribute("aria-pressed", String(this.turning));
  }

  /** By a drag or by keys: turns a map in space, else moves it. */
  drag(dx: number, dy: number): void {
    if (this.space && this.turning !== this.other) {
      this.stage.orbit(dx, dy);
      this.hint.hidden = true;
    } else {
      this.stage.camera.pan(dx, dy);
      this.stage.view();
    }
  }

  setLasso(on: boolean): void {
    this.lassoOn = on;
    this.button.setAttribute("aria-pressed", String(on));
    this.stage.canvas.classList.toggle("lasso", on);
    if (!on) this.drop();
  }

  toggleLasso(): void {
    this.setLasso(!this.lassoOn);
  }

  get lassoing(): boolean {
    return this.lassoOn;
  }

  private drop(): void {
    this.path = null;
    this.stage.scene.lasso = [];
    this.stage.touch();
  }

  private at(event: MouseEvent): Place {
    const { left, top } = this.stage.canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0 && !(event.button === 2 && this.space)) return;
    this.other = event.button === 2;
    const at = this.at(event);
    this.stage.canvas.setPointerCapture(event.pointerId);
    this.down.set(event.pointerId, at);
    this.start = at;
    this.stage.held = true;
    this.leave();
    if (this.down.size === 1 && !this.other && (this.lassoOn || event.shiftKey)) this.path = [at];
    else this.stage.canvas.classList.add("dragging");
  }

  private move(event: PointerEvent): void {
    const at = this.at(event);
    const before = this.down.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") this.resting = at;
      return;
    }
    this.down.set(event.pointerId, at);
    if (this.path) {
      this.path.push(at);
      this.stage.scene.lasso = this.path;
      this.stage.touch();
      return;
    }
    if (this.down.size !== 2) return this.drag(at.x - before.x, at.y - before.y);
    this.pinch(event.pointerId, before, at);
    this.stage.view();
  }

  private pinch(id: number, before: Place, at: Place): void {
    const [, other] = [...this.down].find(([key]) => key !== id) as [number, Place];
    const apart = (a: Place) => Math.max(Math.hypot(a.x - other.x, a.y - other.y), 1);
    this.stage.camera.pan((at.x - before.x) / 2, (at.y - before.y) / 2);
    this.stage.camera.zoomAt(apart(at) / apart(before), (at.x + other.x) / 2, (at.y + other.y) / 2);
  }

  private release(event: PointerEvent): void {
    const at = this.at(event);
    if (!this.down.delete(event.pointerId)) return;
    this.stage.held = this.down.size > 0;
    this.stage.canvas.classList.remove("dragging");
    const path = this.path;
    const other = this.other;
    this.other = false;
    const still = this.start !== null && Math.hypot(at.x - this.start.x, at.y - this.start.y) < CLICK && (path?.length ?? 0) < 6;
    if (path) this.drop();
    if (event.type === "pointercancel" || other) return;
    const under = still ? this.under(at) : null;
    if (under && "name" in under) this.ways.name(under.name.id, under.name.rect);
    else if (under) this.ways.click(under.picked, at);
    else if (path && path.length > 2) {
      this.setLasso(false);
      this.ways.lasso(path);
    }
  }

  private leave(): void {
    this.resting = null;
    this.ways.hover(null, 0, 0);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const at = this.at(event);
    this.stage.camera.zoomAt(Math.exp(-Math.min(Math.max(event.deltaY * lines, -240), 240) / 340), at.x, at.y);
    this.stage.view();
  }

  /** A live point lies before words, and words before the rows of the map. */
  private under({ x, y }: Place): { name: { id: string; rect: Rect } } | { picked: Picked } {
    const picked = this.stage.pick(x, y);
    const name = this.lassoOn || (picked && "point" in picked) ? undefined : this.stage.named(x, y);
    return name ? { name } : { picked };
  }

  /** Once a frame: what is under the pointer now. */
  frame(): void {
    if (!this.resting || this.down.size > 0) return;
    const { x, y } = this.resting;
    const under = this.under({ x, y });
    const named = "name" in under;
    this.stage.canvas.classList.toggle("naming", named);
    this.stage.canvas.title = named ? "Click to rename" : "";
    const picked = named ? null : under.picked;
    this.stage.canvas.classList.toggle("pointing", (picked !== null || this.stage.groupAt(x, y) !== null) && !this.lassoOn);
    this.ways.hover(picked, x, y);
  }
}
