// The card beside the pointer: who this is, what the map says of it, and what it is most like.

import { api } from "./api";
import { button, make } from "./dom";
import type { Spot } from "./geometry";
import { ownValues, shownFields } from "./fields";
import { picture } from "./picture";
import type { Point } from "./state";
import type { Image, Near, Past, PointDetail, RowDetail } from "./types";
import { called, legible, moment, short } from "./words";

/** Where what is known of a row or a point comes from. */
export interface CardSource { row(number: number): Promise<RowDetail>; point(id: string): Promise<PointDetail> }

export type Target =
  | { kind: "point"; point: Point }
  /** A point that is not there any more, as it was last. */
  | { kind: "gone"; id: string; past: Spot & Pick<Past, "verdict" | "cluster">; t: number | null }
  | { kind: "row"; row: number; id: string; cluster: string | null };

const WAIT = 90; // milliseconds that the pointer rests before the server is asked
const CACHED = 400;

function keyOf(target: Target): string {
  switch (target.kind) {
    case "row": return `row ${target.row}`;
    case "gone": return `gone ${target.id} ${target.t}`;
    case "point": return `point ${target.point.id} ${target.point.t} ${target.point.x}`;
  }
}

/** Answers by key, the latest few hundred; a failed one is asked for again. */
class Cache<T> {
  private readonly kept = new Map<string, Promise<T>>();

  clear(): void {
    this.kept.clear();
  }

  get(key: string, ask: () => Promise<T>): Promise<T> {
    let answer = this.kept.get(key);
    if (!answer) {
      answer = ask();
      answer.catch(() => this.kept.delete(key));
      this.kept.set(key, answer);
      if (this.kept.size > CACHED) this.kept.delete(this.kept.keys().next().value as string);
    }
    return answer;
  }
}

export class Card {
  private key = "";
  private timer = 0;
  private readonly rows = new Cache<RowDetail>();
  private readonly points = new Cache<PointDetail>();

  /** `clustered`: whether classes are clusters that points are in. `answers`: whether the server tells of the version that is shown. */
  constructor(
    private readonly root: HTMLElement,
    private readonly image: Image | null,
    private readonly labels: boolean,
    private readonly title: (name: string) => string,
    private readonly clustered: () => boolean,
    private readonly answers: () => boolean,
    private readonly close: () => void,
    private readonly source: CardSource = api,
  ) {}

  /** Another version of the map is shown: rows have other numbers. */
  forget(): void {
    this.rows.clear();
    this.points.clear();
  }

  hide(): void {
    this.key = "";
    clearTimeout(this.timer);
    this.root.hidden = true;
  }

  /** Shows the card of a target beside a place on a stage of the given size. One that is pinned has a button that closes it. */
  show(target: Target, x: number, y: number, width: number, height: number, pinned = false): void {
    const key = keyOf(target);
    const same = key === this.key && !this.root.hidden && pinned === this.root.classList.contains("pinned");
    if (same && x === this.at.x && y === this.at.y && width === this.at.width && height === this.at.height) return;
    this.root.classList.toggle("pinned", pinned);
    if (key !== this.key) {
      this.key = key;
      this.fill(target, null);
      clearTimeout(this.timer);
      if (target.kind !== "gone" && this.answers()) this.timer = window.setTimeout(() => void this.ask(target, key), WAIT);
    }
    this.root.hidden = false;
    this.place(x, y, width, height);
    this.at = { x, y, width, height };
  }

  private at = { x: 0, y: 0, width: 0, height: 0 };

  private place(x: number, y: number, width: number, height: number): void {
    const { offsetWidth, offsetHeight } = this.root;
    const left = x + 18 + offsetWidth < width - 8 ? x + 18 : Math.max(8, x - 18 - offsetWidth);
    const top = Math.min(Math.max(8, y - 30), Math.max(8, height - offsetHeight - 8));
    this.root.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  private async ask(target: Exclude<Target, { kind: "gone" }>, key: string): Promise<void> {
    try {
      const detail = target.kind === "row"
        ? await this.row(target.row)
        : await this.points.get(key, () => this.source.point(target.point.id));
      if (this.key !== key) return;
      this.fill(target, detail);
      const { x, y, width, height } = this.at;
      this.place(x, y, width, height);
      if (this.image) await this.neighbours(detail.nearest, key);
    } catch {
      // Without an answer (the point is gone, the server away) the card stays with what is known here.
    }
  }

  private row(number: number): Promise<RowDetail> {
    return this.rows.get(String(number), () => this.source.row(number));
  }

  private fill(target: Target, detail: PointDetail | RowDetail | null): void {
    const top = make("div", "top");
    const words = make("div");
    const id = target.kind === "point" ? target.point.id : target.id;
    words.append(make("b", "", legible(id)), make("span", "sub", { row: "row of the map", point: "live point", gone: "not on the map any more" }[target.kind]));
    if (target.kind === "point") words.append(make("br"), make("span", `verdict ${target.point.verdict}`, target.point.verdict));
    top.append(words);
    if (this.image && detail?.picture) top.append(picture(detail.picture, this.image, "main"));
    else if (this.image && !detail && target.kind !== "gone") {
      const room = make("canvas", "main");
      room.width = room.height = 1;
      top.append(room);
    }
    const close = button("close", "×", this.close);
    close.setAttribute("aria-label", "Close the card");
    close.title = "Close (esc)";
    const replaced = () => this.root.hidden || this.place(this.at.x, this.at.y, this.at.width, this.at.height);
    const shown = detail && "shown" in detail ? shownFields(detail.shown ?? [], replaced) : null;
    const facts = target.kind === "gone" ? this.gone(target) : this.facts(target, detail);
    this.root.replaceChildren(...[top, shown, facts, close].filter((part) => part !== null));
    const own = detail && !this.image ? ownValues(detail.values ?? null) : null;
    if (own) this.root.append(make("h3", "", "Values"), own);
    if (detail && detail.nearest.length > 0) this.root.append(make("h3", "", "Most like it"), this.nearest(detail.nearest));
  }

  private gone({ past, t }: Extract<Target, { kind: "gone" }>): HTMLElement {
    const when = t === null ? "It is gone" : `It was removed at ${moment(t)}`;
    const kind = past.verdict === "outlier" ? "an outlier" : past.cluster === null ? "in no cluster" : `in ${called(this.title(past.cluster))}`;
    return make("p", "gone", `${when}. This is where it was last, ${kind}.`);
  }

  private facts(target: Exclude<Target, { kind: "gone" }>, detail: PointDetail | RowDetail | null): HTMLElement {
    const list = make("dl");
    const fact = (name: string, value: string | HTMLElement) => {
      const dd = make("dd");
      dd.append(value);
      list.append(make("dt", "", name), dd);
    };
    if (target.kind === "row") {
      const label = detail && "label" in detail ? detail.label : null;
      if (label !== null) fact("label", legible(label));
      if (this.clustered() && (!this.labels || label === null)) fact("cluster", legible(target.cluster === null ? "none" : this.title(target.cluster)));
      return list;
    }
    const { point } = target;
    if (point.label !== null) fact("label", legible(point.label));
    const told = detail && "point" in detail ? detail.point : null;
    if (told?.predicted_label) {
      const likely = make("span", "", `${legible(told.predicted_label)}, ${Math.round(100 * (told.label_share ?? 0))} % sure`);
      likely.title = "The label of most of its neighbours; of points that are so sure, this share is right";
      fact("looks like", likely);
    }
    if (point.verdict === "outlier") fact("group", point.group === null ? "alone" : String(point.group));
    else if (this.clustered()) fact("landed in", legible(point.cluster === null ? "no cluster" : this.title(point.cluster)));
    const score = make("span");
    score.title = "Share of the map's rows that are at least as strange";
    const meter = make("span", point.score < 0.02 ? "meter low" : "meter");
    const bar = make("i");
    bar.style.width = `${Math.round(Math.min(Math.max(point.score, 0), 1) * 100)}%`;
    meter.append(bar);
    score.append(meter, short(point.score));
    fact("score", score);
    if (detail && "history" in detail && detail.history.length > 1) fact("events", `${detail.history.length}${detail.history.length >= 100 ? " or more" : ""}`);
    return list;
  }

  private nearest(list: Near[]): HTMLElement {
    if (this.image) {
      const row = make("ul", "near");
      for (const { id, label } of list.slice(0, 5)) {
        const item = make("li");
        const room = make("canvas");
        room.width = room.height = 1;
        item.append(room, legible(label ?? id));
        row.append(item);
      }
      return row;
    }
    const rows = make("ul", "rows");
    for (const { id, label, distance } of list.slice(0, 5)) {
      const item = make("li");
      item.append(make("span", "", legible(id)), make("span", "label", legible(label ?? "")), make("small", "", short(distance)));
      rows.append(item);
    }
    return rows;
  }

  /** The pictures of what it is most like, each put in place when it comes. */
  private async neighbours(list: Near[], key: string): Promise<void> {
    const details = await Promise.all(list.slice(0, 5).map(({ number }) => this.row(number)));
    if (this.key !== key || !this.image) return;
    const rooms = this.root.querySelectorAll(".near canvas");
    details.forEach((detail, k) => {
      if (detail.picture && this.image) rooms[k]?.replaceWith(picture(detail.picture, this.image));
    });
  }
}
