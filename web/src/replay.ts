// The history: a slider over it, play, pause and speed.

import { api } from "./api";
import { byId } from "./dom";
import type { Log } from "./log";
import { css, OUTLIER } from "./palette";
import type { State } from "./state";
import type { Theme } from "./theme";
import { isNotice, type LiveEvent, type Notice } from "./types";
import { moment, number } from "./words";

/** How far back the slider goes. */
const REACH = 100_000;
/** Events fetched when the page opens, so that the slider has something to show. */
const EAGER = 10_000;
/** A pause in the history longer than this, in seconds of watching, is skipped. */
const PATIENCE = 1.2;

export type Mode = "live" | "paused" | "playing";

export interface ReplayWays {
  /** The state jumped: these points changed. */
  jumped(ids: Set<string>): void;
  mode(mode: Mode): void;
  /** Whether another version of the map was shown at the moment after an event. */
  crosses(n: number): boolean;
  /** Goes to that moment, across the switch. */
  cross(n: number): Promise<void>;
  /** Older events came. */
  fetched(events: LiveEvent[]): void;
  failed(problem: string): void;
}

export class Replay {
  mode: Mode = "live";
  private readonly slider = byId<HTMLInputElement>("slider");
  private readonly label = byId("moment");
  private readonly marks = byId<HTMLCanvasElement>("marks");
  private readonly play = byId<HTMLButtonElement>("play");
  private readonly live = byId<HTMLButtonElement>("golive");
  private readonly speed = byId<HTMLSelectElement>("speed");
  /** First event that the server keeps. */
  kept = 1;
  private clock = 0;
  private wanted: number | null = null;
  private loading: Promise<void> | null = null;
  private drawnMarks = "";

  constructor(private readonly state: State, private readonly log: Log, private readonly ways: ReplayWays) {
    this.slider.addEventListener("input", () => void this.seek(Number(this.slider.value)));
    this.play.addEventListener("click", () => this.toggle());
    this.live.addEventListener("click", () => void this.goLive());
  }

  /** The start of the history, when it is known or has changed. */
  start(first: number): void {
    this.kept = Math.max(1, first);
    if (this.log.first > this.kept) void this.reach(Math.max(this.first, this.log.last - EAGER)).catch(() => {});
  }

  /** The moments that can be shown: after each of these events and those between. */
  get range(): readonly [number, number] {
    return [this.first, this.log.last];
  }

  /** The state before the first event that can be shown. */
  private get first(): number {
    return Math.max(this.kept - 1, this.log.last - REACH, 0);
  }

  private set(mode: Mode): void {
    this.mode = mode;
    const playing = mode === "playing";
    this.play.querySelector("use")?.setAttribute("href", playing ? "#i-pause" : "#i-play");
    this.play.setAttribute("aria-label", playing ? "Pause" : mode === "live" ? "Replay the history" : "Play on");
    this.live.disabled = mode === "live";
    this.ways.mode(mode);
  }

  toggle(): void {
    if (this.mode === "playing") this.set("paused");
    else if (this.state.last >= this.log.last) void this.seek(this.first).then(() => this.run());
    else this.run();
  }

  private run(): void {
    if (this.state.last >= this.log.last) return;
    this.clock = this.log.at(this.state.last + 1)?.t ?? 0;
    this.set("playing");
  }

  async goLive(): Promise<void> {
    if (this.mode === "live") return;
    this.wanted = null;
    await this.go(this.log.last);
    this.set("live");
  }

  /** To the moment after event `n`, all events up to which are in memory. */
  private async go(n: number): Promise<void> {
    if (this.ways.crosses(n)) await this.ways.cross(n);
    else this.travel(n);
  }

  /** One event back or on. */
  nudge(step: number): void {
    void this.seek(Math.min(Math.max(this.state.last + step, this.first), this.log.last));
  }

  /** Goes to the state after event `n`; fetches what it needs for that. While it fetches, only the latest wish counts. */
  async seek(n: number): Promise<void> {
    this.wanted = n;
    if (this.mode !== "paused") this.set("paused");
    try {
      await this.reach(n);
    } catch {
      this.ways.failed("The history could not be fetched; the server does not answer.");
    }
    if (this.wanted !== n) return;
    this.wanted = null;
    await this.go(Math.max(n, this.log.first - 1));
  }

  /** Makes sure that every event after `n` is in memory. */
  private async reach(n: number): Promise<void> {
    while (this.log.first - 1 > n) {
      this.loading ??= api.before(this.log.first).then(({ events, first }) => {
        this.kept = Math.max(this.kept, first);
        this.ways.fetched(events);
        if (this.log.prepend(events) === 0) this.kept = this.log.first;
      }).finally(() => { this.loading = null; });
      await this.loading;
      if (this.log.first <= this.kept) return;
    }
  }

  /** Folds the state to the moment after event `n`, within a version of the map. */
  travel(n: number): void {
    const { state, log } = this;
    const touched = new Set<string>();
    const note = (step: { id: string } | null) => step && touched.add(step.id);
    while (state.last < n && log.at(state.last + 1)) note(state.apply(log.at(state.last + 1) as LiveEvent));
    while (state.last > n && log.at(state.last)) {
      const event = log.at(state.last) as LiveEvent;
      note(state.undo(event, log.before(event)));
    }
    this.ways.jumped(touched);
  }

  /** The events that are due after so many seconds of watching. Long pauses are skipped. */
  due(seconds: number): LiveEvent[] {
    if (this.mode !== "playing") return [];
    const speed = Number(this.speed.value);
    this.clock += seconds * speed;
    const events: LiveEvent[] = [];
    for (let n = this.state.last + 1; ; n++) {
      const event = this.log.at(n);
      if (!event) {
        if (events.length === 0) this.set("live");
        return events;
      }
      if (event.t > this.clock + PATIENCE * speed) this.clock = event.t - PATIENCE * speed;
      if (event.t > this.clock) return events;
      events.push(event);
    }
  }

  /** Slider and words as they are now. */
  show(theme: Theme): void {
    const [first, last] = [this.first, this.log.last];
    if (this.slider.min !== String(first)) this.slider.min = String(first);
    if (this.slider.max !== String(last)) this.slider.max = String(last);
    const at = this.mode === "live" ? last : this.wanted ?? this.state.last;
    if (this.slider.value !== String(at)) this.slider.value = String(at);
    this.slider.disabled = this.play.disabled = last <= first;
    const event = this.log.at(at);
    const when = last === 0 ? "no events yet" : event ? moment(event.t) : this.mode === "live" ? "now" : "the start";
    this.say(when, last === 0 ? "" : `event ${number(at)} of ${number(last)}`);
    this.slider.setAttribute("aria-valuetext", `${when}, event ${at} of ${last}`);
    this.draw(theme, first, last, at);
  }

  private said = "";
  private say(when: string, which: string): void {
    if (this.said === when + which) return;
    this.said = when + which;
    const small = document.createElement("small");
    small.textContent = which;
    this.label.replaceChildren(when, small);
  }

  // Over the slider: how the share of outliers went, and a flag for each notice.
  private draw(theme: Theme, first: number, last: number, at: number): void {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const { clientWidth: width, clientHeight: height } = this.marks;
    const key = [theme.dark, first, last, at, this.log.first, width].join();
    if (key === this.drawnMarks || width === 0) return;
    this.drawnMarks = key;
    this.marks.width = Math.round(width * ratio);
    this.marks.height = Math.round(height * ratio);
    const context = this.marks.getContext("2d") as CanvasRenderingContext2D;
    context.scale(ratio, ratio);
    const line = 22; // where the slider's own line lies
    const x = (n: number) => ((n - first) / Math.max(last - first, 1)) * width;
    context.fillStyle = css(theme.line);
    context.fillRect(0, line - 1.5, width, 3);
    context.fillStyle = css(theme.accent);
    context.fillRect(0, line - 1.5, x(at), 3);
    const bins = Math.max(1, Math.floor(width / 4));
    const all = new Uint32Array(bins);
    const odd = new Uint32Array(bins);
    const flags: Notice[] = [];
    for (let n = Math.max(first + 1, this.log.first); n <= last; n++) {
      const event = this.log.at(n) as LiveEvent;
      if (isNotice(event) && event.kind !== "renamed" && event.kind !== "notice") flags.push(event);
      const bin = Math.min(bins - 1, Math.floor(((n - first - 1) / Math.max(last - first, 1)) * bins));
      all[bin]++;
      if ("verdict" in event && event.verdict === "outlier") odd[bin]++;
    }
    context.fillStyle = css(OUTLIER, 0.55);
    for (let bin = 0; bin < bins; bin++) {
      if (odd[bin] === 0) continue;
      const tall = 3 + 9 * (odd[bin] / all[bin]);
      context.fillRect((bin * width) / bins, line - 3 - tall, width / bins - 1, tall);
    }
    for (const flag of flags.slice(-200)) {
      context.fillStyle = css(flag.kind === "map-updated" ? theme.accent : flag.kind === "forming" ? OUTLIER : flag.kind === "stale" || flag.kind === "cluster-stale" ? [220, 150, 20] : theme.faint);
      context.beginPath();
      const [fx, fy] = [Math.min(Math.max(x(flag.n), 4), width - 4), line - 16];
      context.moveTo(fx, fy + 4);
      context.lineTo(fx - 4, fy - 4);
      context.lineTo(fx + 4, fy - 4);
      context.fill();
    }
  }
}
