// The stretches A and B under the slider: bands with a handle at each end, moved by pointer, touch and keys.

import { make } from "./dom";
import { moveEdge, moveStretch, type Edges, type Range } from "./stretches";

const NAMES = ["A", "B"];
/** Milliseconds without a key after which the person has let go. */
const LET_GO = 350;
/** Of the whole track, what an arrow key and a page key move by. */
const STEP = 0.01;
const PAGE = 0.1;

export interface BandsWays {
  edges(): Edges;
  range(): Range;
  moved(edges: Edges): void;
  /** The person let go. */
  settled(): void;
  /** The moment at an edge, in words. */
  moment(edges: Edges, k: number): string;
}

export class Bands {
  private readonly bands: HTMLElement[];
  private readonly texts: HTMLElement[];
  private readonly handles: HTMLElement[];
  private letGo = 0;

  constructor(private readonly root: HTMLElement, private readonly ways: BandsWays) {
    this.texts = NAMES.map(() => make("span"));
    this.handles = [0, 1, 2, 3].map((k) => this.handle(k));
    this.bands = NAMES.map((name, which) => {
      const band = make("div", `band ${name.toLowerCase()}`);
      band.append(this.texts[which], ...this.handles.slice(2 * which, 2 * which + 2));
      this.drag(band, (edges, by) => moveStretch(edges, which, by, ways.range()));
      return band;
    });
    root.append(...this.bands);
  }

  private handle(k: number): HTMLElement {
    const made = make("b", k % 2 === 0 ? "start" : "end");
    made.tabIndex = 0;
    made.setAttribute("role", "slider");
    made.setAttribute("aria-label", `${k % 2 === 0 ? "Start" : "End"} of stretch ${NAMES[k >> 1]}`);
    this.drag(made, (edges, by) => moveEdge(edges, k, edges[k] + by, this.ways.range()));
    made.addEventListener("keydown", (event) => this.press(event, k));
    return made;
  }

  /** Follows a pointer from where it went down; `move` says what so many events to the right mean. */
  private drag(element: HTMLElement, move: (edges: Edges, by: number) => Edges): void {
    element.addEventListener("pointerdown", (down) => {
      if (down.button !== 0) return;
      down.stopPropagation();
      element.setPointerCapture(down.pointerId);
      const start = this.ways.edges();
      const follow = ({ clientX }: PointerEvent) => {
        const [first, last] = this.ways.range();
        this.ways.moved(move(start, ((clientX - down.clientX) * (last - first)) / Math.max(this.root.clientWidth, 1)));
      };
      const end = () => {
        element.removeEventListener("pointermove", follow);
        for (const kind of ["pointerup", "pointercancel"] as const) element.removeEventListener(kind, end);
        if (this.ways.edges().some((n, k) => n !== start[k])) this.ways.settled();
      };
      element.addEventListener("pointermove", follow);
      for (const kind of ["pointerup", "pointercancel"] as const) element.addEventListener(kind, end);
    });
  }

  /** Arrows and page keys move an edge, with shift its whole stretch; home and end go as far as there is room. */
  private press(event: KeyboardEvent, k: number): void {
    const { ways } = this;
    const edges = ways.edges();
    const range = ways.range();
    const span = range[1] - range[0];
    const [little, much] = [STEP, PAGE].map((share) => Math.max(1, Math.round(span * share)));
    const steps: Record<string, number> = {
      ArrowLeft: -little, ArrowDown: -little, ArrowRight: little, ArrowUp: little, PageDown: -much, PageUp: much, Home: -Infinity, End: Infinity,
    };
    const by = steps[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    ways.moved(event.shiftKey ? moveStretch(edges, k >> 1, by, range) : moveEdge(edges, k, edges[k] + by, range));
    clearTimeout(this.letGo);
    this.letGo = window.setTimeout(() => ways.settled(), LET_GO);
  }

  show(): void {
    const { ways, handles } = this;
    const edges = ways.edges();
    const [first, last] = ways.range();
    const at = (n: number) => Math.min(Math.max((n - first) / Math.max(last - first, 1), 0), 1);
    this.bands.forEach((band, which) => {
      const [from, to] = [edges[2 * which], edges[2 * which + 1]];
      band.style.left = `${100 * at(from)}%`;
      band.style.width = `${100 * (at(to) - at(from))}%`;
      this.texts[which].textContent = `${NAMES[which]} ${ways.moment(edges, 2 * which)} to ${ways.moment(edges, 2 * which + 1)}`;
      band.title = this.texts[which].textContent ?? "";
    });
    handles.forEach((handle, k) => {
      handle.setAttribute("aria-valuemin", String(first));
      handle.setAttribute("aria-valuemax", String(last));
      handle.setAttribute("aria-valuenow", String(edges[k]));
      handle.setAttribute("aria-valuetext", ways.moment(edges, k));
    });
  }
}
