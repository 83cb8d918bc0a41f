// The history: a slider over it, play, pause and speed.

import { api } from "./api";
import { byId } from "./dom";
import type { Log } from "./log";
import { Moments } from "./moments";
import { css, OUTLIER } from "./palette";
import type { State } from "./state";
import type { Theme } from "./theme";
import { isNotice, type LiveEvent, type MapInfo, type Notice } from "./types";
import { moment, number } from "./words";

/** How far back the slider goes. */
const REACH = 100_000;
/** Events fetched when the page opens, so that the slider has something to show. */
const EAGER = 10_000;
/** A pause in the history longer than this, in seconds of watching, is skipped. */
const PATIENCE = 1.2;
/** Seconds that a step of many events takes. */
const STEP = 1.5;
/** The speeds of steps, with the usual one; and those beyond the usual ones for recordings, which may be of weeks. */
const SPEEDS: [string, string][] = [["0.25", "¼×"], ["0.5", "½×"], ["1", "1×"], ["2", "2×"], ["4", "4×"]];
const FASTER: [string, string][] = [["1024", "1024×"], ["4096", "4096×"]];

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
  private readonly moments: Moments;
  /** First event that the server keeps. */
  kept = 1;
  private clock = 0;
  private wanted: number | null = null;
  private loading: Promise<void> | null = null;
  private drawnMarks = "";

  constructor(private readonly state: State, private readonly log: Log, private readonly recording: MapInfo["recording"], private readonly ways: ReplayWays) {
    this.moments = new Moments(recording?.steps ?? null);
    this.slider.addEventListener("input", () => void this.seek(this.moments.event(Number(this.slider.value), this.first)));
    this.play.addEventListener("click", () => this.toggle());
    this.live.addEventListener("click", () => void this.goLive());
    if (recording) this.prepare();
  }

  /** In a recording there is no present: its end takes the place of it. */
  private prepare(): void {
    this.mode = "paused";
    this.live.textContent = "End";
    byId("help-live").textContent = "to the end";
    for (const [name, step] of [["back", -1], ["on", 1]] as const) {
      const button = byId<HTMLButtonElement>(name);
      button.hidden = false;
      button.addEventListener("click", () => this.nudge(step));
    }
    const options = (list: [string, string][]) => list.map(([value, text]) => new Option(text, value, value === "1", value === "1"));
    if (this.moments.together) this.speed.replaceChildren(...options(SPEEDS));
    else this.speed.append(...options(FASTER));
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
    return Math.max(this.kept - 1, this.recording ? 0 : this.log.last - REACH, 0);
  }

  private set(wanted: Mode): void {
    const mode = this.recording && wanted === "live" ? "paused" : wanted;
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
    // The first step of many is not waited for.
    this.clock = this.moments.together ? STEP : this.log.at(this.state.last + 1)?.t ?? 0;
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

  /** One event back or on, or one step of many. */
  nudge(step: number): void {
    const { moments, first } = this;
    const to = moments.event(moments.position(this.wanted ?? this.state.last) + step, first);
    void this.seek(Math.min(Math.max(to, first), this.log.last));
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
    if (this.moments.together) return this.step();
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

  /** The events of the next step, once it is due; the rest of one that has begun, at once. */
  private step(): LiveEvent[] {
    const { moments, state } = this;
    const position = moments.position(state.last);
    const within = state.last > moments.event(position, this.first);
    if (!within && this.clock < STEP) return [];
    if (!within) this.clock = 0;
    const events: LiveEvent[] = [];
    for (let n = state.last + 1; n <= moments.event(position + 1, this.first); n++) {
      const event = this.log.at(n);
      if (event) events.push(event);
    }
    if (events.length === 0) this.set("paused");
    return events;
  }

  /** Slider and words as they are now. */
  show(theme: Theme): void {
    const { moments, slider } = this;
    const [first, last] = [this.first, this.log.last];
    const [start, end] = moments.ends(first, last);
    if (slider.min !== String(start)) slider.min = String(start);
    if (slider.max !== String(end)) slider.max = String(end);
    const n = this.mode === "live" ? last : this.wanted ?? this.state.last;
    const at = moments.position(n);
    if (slider.value !== String(at)) slider.value = String(at);
    slider.disabled = this.play.disabled = last <= first;
    if (this.recording) this.live.disabled = n >= last;
    const event = this.log.at(n);
    const when = last === 0 ? "no events yet" : event ? moment(event.t) : this.mode === "live" ? "now" : "the start";
    const what = moments.together ? "step" : "event";
    this.say(when, last === 0 ? "" : `${what} ${number(at)} of ${number(end)}`);
    slider.setAttribute("aria-valuetext", `${when}, ${what} ${at} of ${end}`);
    this.draw(theme, start, end, at);
  }

  private said = "";
  private say(when: string, which: string): void {
    if (this.said === when + which) return;
    this.said = when + which;
    const small = document.createElement("small");
    small.textContent = which;
    this.label.replaceChildren(when, small);
  }

  // Over the slider, whose positions these are: how the share of outliers went, and a flag for each notice.
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
    for (let n = Math.max(this.first + 1, this.log.first); n <= this.log.last; n++) {
      const event = this.log.at(n) as LiveEvent;
      if (isNotice(event) && event.kind !== "renamed" && event.kind !== "notice") flags.push(event);
      const bin = Math.min(bins - 1, Math.floor(((this.moments.place(n) - first - 1) / Math.max(last - first, 1)) * bins));
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
      const [fx, fy] = [Math.min(Math.max(x(this.moments.place(flag.n)), 4), width - 4), line - 16];
      context.moveTo(fx, fy + 4);
      context.lineTo(fx - 4, fy - 4);
      context.lineTo(fx + 4, fy - 4);
      context.fill();
    }
  }
}
