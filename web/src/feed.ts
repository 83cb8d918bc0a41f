// The feed: what happened, newest first. A few events are told one by one, a flood as one line for each kind.

import { make, icon } from "./dom";
import { css, OUTLIER, type Rgb } from "./palette";
import { isNotice, type Kind, type LiveEvent, type PointEvent } from "./types";
import { crowd, legible, moment, sentence, type Context } from "./words";

const KEPT = 300;
/** More events than this between two frames are told together. */
const FLOOD = 8;
/** Lines about a flood take in what follows for so many milliseconds. */
const GATHER = 1000;

const ICONS: Record<Kind, string> = {
  appeared: "dot", stayed: "stay", moved: "move", "changed-cluster": "change", "became-outlier": "outlier",
  "joined-group": "group", returned: "return", removed: "gone",
  forming: "forming", dissolved: "gone", vanishing: "vanishing", recovered: "return", stale: "stale", fresh: "stale",
  "cluster-stale": "stale", "cluster-fresh": "stale", "map-updated": "map", renamed: "pencil", notice: "stay",
};

export interface FeedWays extends Context {
  /** How many numbers a row has; null where none can be posted. */
  columns: number | null;
  colour(cluster: string | null): Rgb;
  /** So many lines wait until the reader comes back to the top. */
  waiting(many: number): void;
  /** Somebody pressed an item. */
  go(event: LiveEvent): void;
  /** Somebody pressed a line about many. */
  goMany(ids: string[]): void;
}

interface Flood { text: HTMLElement; ids: string[]; since: number }

const outlying = (event: PointEvent): boolean => event.kind !== "removed" && event.verdict === "outlier";

export class Feed {
  private floods = new Map<string, Flood>();
  private empty: HTMLElement | null = null;
  /** While the list is read or pointed at, it must not move. */
  private waiting: HTMLElement[] = [];
  /** What the lines about single events tell. */
  private readonly told = new WeakMap<Element, LiveEvent>();

  constructor(private readonly root: HTMLElement, readonly ways: FeedWays) {
    this.clear();
    root.addEventListener("keydown", (event) => this.key(event));
    for (const kind of ["scroll", "pointerleave", "focusout"]) root.addEventListener(kind, () => requestAnimationFrame(() => this.release()));
  }

  /** Whether somebody reads or is about to press a line: then none may move. A press of the mouse leaves no such mark. */
  private get held(): boolean {
    return this.root.scrollTop > 40 || this.root.matches(":hover") || this.root.matches(":focus-visible") || this.root.querySelector(":focus-visible") !== null;
  }

  private release(): void {
    if (this.waiting.length === 0 || this.held) return;
    this.show(this.waiting.splice(0));
    this.ways.waiting(0);
  }

  private key(event: KeyboardEvent): void {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const lines = [...this.root.querySelectorAll<HTMLElement>(".item")];
    const at = lines.indexOf(document.activeElement as HTMLElement);
    lines[Math.min(Math.max(at + (event.key === "ArrowDown" ? 1 : -1), 0), lines.length - 1)]?.focus();
    event.preventDefault();
  }

  clear(): void {
    this.floods.clear();
    this.waiting = [];
    this.ways.waiting(0);
    const { columns } = this.ways;
    this.empty = make("li", "empty", `Nothing has happened yet.${columns === null ? "" : " Points that are posted appear here and on the map."}`);
    if (columns !== null) this.empty.append(make("code", "", `curl ${new URL("api/points", document.baseURI).href} -H 'content-type: application/json' -d '[{"id": "a", "x": [${columns} numbers]}]'`));
    this.root.replaceChildren(this.empty);
  }

  /** Starts over with these, oldest first. */
  refill(events: readonly LiveEvent[]): void {
    this.clear();
    if (events.length === 0) return;
    this.root.replaceChildren();
    this.empty = null;
    this.show(events.slice(-KEPT).map((event) => this.item(event)));
  }

  /** Tells the same again: clusters have other names and colours. */
  retell(): void {
    for (const line of [...this.root.children]) {
      const event = this.told.get(line);
      if (event && !line.contains(document.activeElement)) line.replaceWith(this.item(event));
    }
  }

  /** What happened since the last frame, oldest first. */
  add(events: readonly LiveEvent[]): void {
    if (events.length === 0) return;
    this.empty?.remove();
    this.empty = null;
    const made: HTMLElement[] = [];
    const flood = events.length > FLOOD;
    for (const event of events) {
      if (isNotice(event)) {
        made.push(this.item(event));
        this.floods.clear();
      } else if (!flood || event.kind === "became-outlier") made.push(this.item(event));
      else this.gather(event, made);
    }
    if (this.held && this.root.childElementCount > 0) {
      this.waiting.push(...made);
      this.waiting.splice(0, Math.max(0, this.waiting.length - KEPT));
      this.ways.waiting(this.waiting.length);
    } else this.show(made);
  }

  private gather(event: PointEvent, made: HTMLElement[]): void {
    const key = `${event.kind} ${outlying(event)}`;
    const now = performance.now();
    const flood = this.floods.get(key);
    if (flood && now - flood.since < GATHER) {
      flood.ids.push(event.id);
      flood.text.textContent = crowd(event.kind, flood.ids.length, outlying(event));
      return;
    }
    const ids = [event.id];
    const item = this.item(event, () => (ids.length > 1 ? this.ways.goMany(ids) : this.ways.go(event)));
    const text = item.querySelector("span") as HTMLElement;
    this.floods.set(key, { text, ids, since: now });
    text.textContent = crowd(event.kind, 1, outlying(event));
    made.push(item);
  }

  private show(items: HTMLElement[]): void {
    this.root.prepend(...items.slice(-KEPT).reverse());
    while (this.root.childElementCount > KEPT) this.root.lastElementChild?.remove();
  }

  private item(event: LiveEvent, goMany?: () => void): HTMLElement {
    const line = make("button", `item ${event.kind} ${toneOf(event)}`);
    line.type = "button";
    line.tabIndex = -1; // the list is one stop on the way through the page; arrows go through it
    line.dataset.kind = event.kind;
    line.dataset.n = String(event.n);
    const sign = icon(!isNotice(event) && event.kind === "appeared" && outlying(event) ? "outlier" : ICONS[event.kind]);
    const text = make("span");
    if (isNotice(event)) text.textContent = sentence(event, this.ways);
    else {
      text.append(make("b", "", legible(event.id)), ` ${sentence(event, this.ways)}`);
      if (event.kind === "appeared") sign.style.color = css(outlying(event) ? OUTLIER : this.ways.colour(event.cluster));
    }
    const time = make("time", "", moment(event.t));
    line.append(sign, text, time);
    line.addEventListener("click", ({ detail }) => {
      if (goMany) goMany();
      else this.ways.go(event);
      // The mouse leaves no focus behind, which would hold the list; the keyboard does, to go on from there.
      if (detail > 0) line.blur();
    });
    const item = make("li");
    item.append(line);
    if (!goMany) this.told.set(item, event);
    return item;
  }
}

function toneOf(event: LiveEvent): string {
  if (event.kind === "renamed" || event.kind === "notice") return "change";
  if (isNotice(event)) return "big";
  if (outlying(event) && event.kind !== "stayed" && event.kind !== "moved") return "warm";
  return event.kind === "changed-cluster" || event.kind === "returned" ? "change" : "";
}
