// Two stretches of time compared: which are chosen, what the server says of them, and when to stop.

import { api, Refusal } from "./api";
import { Bands } from "./bands";
import { Differences, summary, testOf, type DifferencesWays } from "./differences";
import { byId, make } from "./dom";
import { wallClock } from "./figures";
import type { Entry } from "./poster";
import { shadingOf } from "./shading";
import { addressOf, fits, halves, PRESETS, presetTimes, timesIn, type Edges, type Preset, type Range, type Times } from "./stretches";
import type { Theme } from "./theme";
import type { Timeline } from "./timeline";
import type { Comparison } from "./types";
import { count, number, onDay } from "./words";

export interface CompareWays extends Omit<DifferencesWays, "close"> {
  /** What the slider can show, and the first event that the server keeps. */
  range(): Range;
  kept(): number;
  /** The version that is shown, if it is the one that the server answers about. */
  version(): number | null;
  /** The mode begins or ends. */
  mode(on: boolean): void;
  /** What is known now, for the map; null when that is nothing. */
  shown(answer: Comparison | null): void;
  tell(text: string): void;
}

/** What the server says against it, as people read it: times by the clock. */
function asSentence(text: string): string {
  const timed = text.replace(/\b1\d{9}(\.\d+)?/g, (t) => onDay(Number(t)));
  return `${timed.slice(0, 1).toUpperCase()}${timed.slice(1).replace(/\.$/, "")}.`;
}

export class Compare {
  on = false;
  private answer: Comparison | null = null;
  private edges: Edges = [0, 0, 0, 0];
  /** Counts the questions: only the latest is answered. */
  private asked = 0;
  private readonly button = byId<HTMLButtonElement>("compare-button");
  private readonly key = byId("shading");
  private readonly bands: Bands;
  private readonly panel: Differences;

  constructor(private readonly timeline: Timeline, private readonly ways: CompareWays) {
    this.panel = new Differences(byId("compare"), { ...ways, close: () => this.leave() });
    this.bands = new Bands(byId("bands"), {
      edges: () => this.edges,
      range: ways.range,
      moved: (edges) => this.choose(edges),
      settled: () => void this.ask(),
      moment: (edges, k) => this.moment(edges, k),
    });
    this.button.addEventListener("click", () => this.toggle());
    addEventListener("hashchange", () => void this.resume());
  }

  /** Whether there is a history of the map that is shown. */
  private get able(): boolean {
    return this.ways.version() !== null && fits(halves(this.ways.range()));
  }

  toggle(): void {
    if (this.on) this.leave();
    else if (this.able) this.enter(fits(this.edges) ? this.edges : halves(this.ways.range()));
  }

  /** Compares what the page's address says. */
  async resume(): Promise<void> {
    const times = timesIn(location.hash);
    if (!times || !this.able) return;
    const edges = await this.find(times).catch(() => null);
    if (edges && fits(edges)) this.enter(edges);
  }

  private find(times: Times): Promise<Edges> {
    return this.timeline.edges(times, [this.ways.kept() - 1, this.ways.range()[1]]);
  }

  private enter(edges: Edges): void {
    this.on = true;
    this.mode();
    this.choose(edges);
    void this.ask();
    void this.offer();
  }

  leave(): void {
    if (!this.on) return;
    this.on = false;
    this.asked++;
    this.take(null);
    if (document.activeElement?.closest("#compare, #bands")) this.button.focus();
    history.replaceState(null, "", location.pathname + location.search);
    this.mode();
  }

  /** Another version of the map is shown, or soon will be: what was said is not about it. */
  renew(): void {
    if (this.on) this.ways.tell("Another version of the map is shown, so the comparison was closed.");
    this.leave();
  }

  /** The history may have begun anew. */
  forget(): void {
    this.leave();
    this.timeline.forget();
    this.edges = [0, 0, 0, 0];
  }

  private mode(): void {
    this.button.setAttribute("aria-pressed", String(this.on));
    byId("bands").hidden = byId("tab-compare").hidden = !this.on;
    byId("replay").classList.toggle("comparing", this.on);
    this.ways.mode(this.on);
  }

  /** The stretches as they lie under the slider now, which may have grown. */
  show(): void {
    if (this.ways.version() === null) this.renew();
    this.button.disabled = !this.on && !this.able;
    if (this.on) this.bands.show();
  }

  private choose(edges: Edges): void {
    this.edges = edges;
    this.bands.show();
    this.panel.choose(this.words());
  }

  private words(): string[] {
    return [0, 2].map((k) => `${this.moment(this.edges, k)} to ${this.moment(this.edges, k + 1)}`);
  }

  /** When a stretch begins or ends: with its first or last event. */
  private moment(edges: Edges, k: number): string {
    const n = edges[k] + (k % 2 === 0 ? 1 : 0);
    const t = this.timeline.known(n);
    return t === undefined ? `event ${number(n)}` : onDay(t);
  }

  /** The presets that the history covers. */
  private async offer(): Promise<void> {
    const covered = await Promise.all(PRESETS.map(async (preset) => {
      const times = await this.times(preset);
      return (await this.timeline.time(this.ways.kept())) <= times[0] && fits(await this.find(times));
    })).catch(() => []);
    this.panel.offer([
      ...PRESETS.filter((_, k) => covered[k]).map((preset) => ({ name: preset.name, choose: async () => this.settle(await this.find(await this.times(preset))) })),
      { name: "Second half against the first", choose: async () => this.settle(halves(this.ways.range())) },
    ]);
  }

  private async times(preset: Preset): Promise<Times> {
    return presetTimes(preset, wallClock(await this.timeline.time(this.ways.range()[1])));
  }

  private settle(edges: Edges): void {
    this.choose(edges);
    void this.ask();
  }

  private async ask(): Promise<void> {
    if (!this.on) return;
    const turn = ++this.asked;
    this.panel.wait("Comparing…");
    try {
      const [, last] = this.ways.range();
      const edges = await this.timeline.apart(this.edges, [this.ways.kept() - 1, last]);
      if (turn !== this.asked) return;
      if (!fits(edges)) return this.fail("These events came all at once: choose longer stretches.");
      this.choose(edges);
      const times = await this.timeline.times(edges, last);
      const answer = await api.compare(times);
      if (turn !== this.asked) return;
      if (answer.version !== this.ways.version()) return this.fail("The map was updated meanwhile: compare again.");
      this.take(answer);
      history.replaceState(null, "", addressOf(times));
    } catch (error) {
      if (turn === this.asked) this.fail(error instanceof Refusal ? asSentence(error.message) : "The server does not answer.");
    }
  }

  private fail(problem: string): void {
    this.take(null);
    this.panel.wait(problem, true);
    this.key.textContent = problem;
    this.key.hidden = false;
  }

  private take(answer: Comparison | null): void {
    this.answer = answer;
    this.key.hidden = !answer;
    if (answer) {
      this.panel.show(answer);
      this.panel.choose(this.words(), [answer.a.points, answer.b.points]);
      this.explain(answer);
    }
    this.ways.shown(answer);
  }

  /** Under the map: what its shades mean. */
  private explain(answer: Comparison): void {
    const shading = shadingOf(answer.regions);
    const sample = (change: "gained" | "lost"): HTMLElement[] => {
      const many = shading?.[change].shades.length ?? 0;
      const made = make("span");
      made.append(make("i", change), `${count(many, "region")} ${change} share in B`);
      return many > 0 ? [made] : [];
    };
    const shaded = [...sample("gained"), ...sample("lost")];
    const said = shading ? summary(answer.regions) : `${summary(answer.regions)} A map in space is not shaded.`;
    this.key.replaceChildren(...(shaded.length > 0 ? shaded : [said, " "]), make("small", "", testOf(answer)));
  }

  /** What is shaded, for a picture of the map. */
  lines(theme: Theme): Entry[] {
    const of = (change: "gained" | "lost") => this.answer?.regions.filter((region) => region.change === change).length ?? 0;
    const entries = [{ name: "gained share in B", colour: theme.gained, count: number(of("gained")), diamond: false }, { name: "lost share in B", colour: theme.lost, count: number(of("lost")), diamond: false }];
    return this.answer && shadingOf(this.answer.regions) ? entries : [];
  }
}
