// Three small charts over the window: how fast points come, how many are outliers, how stale the map is.

import { make, vector } from "./dom";
import type { Series } from "./types";
import { percent, rate, short } from "./words";

const WIDTH = 100;
const HEIGHT = 30;
/** Fewer arrivals than this do not say how stale a map is. */
const FEW = 50;

export interface Figures {
  /** Seconds since the latest event. */
  quiet: number;
  rate: number;
  share: number;
  promised: number | null;
  /** Null when it is not known, as for a moment in the past. */
  staleness: number | null;
  stale: boolean;
  /** Staleness above which the operator wants to be told, null where none is set. */
  limit: number | null;
  /** Whether there are more outliers than chance explains. */
  excess: boolean;
  arrivals: number;
  window: number;
  series: Series;
}

class Chart {
  readonly root = make("div", "chart");
  private readonly value = make("b");
  private readonly note = make("small");
  private readonly svg = vector("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
  private readonly area = vector("path", { class: "area" });
  private readonly line = vector("path");
  private readonly limit = vector("line", { x1: 0, x2: WIDTH });

  constructor(private readonly name: string, title: string) {
    this.root.title = title;
    this.svg.append(this.area, this.line, this.limit);
    this.root.append(make("h2", "", name), this.value, this.note, this.svg);
  }

  /** Gaps where a value is null. `limit` is a dashed line, `least` how high the chart is at least. */
  draw(values: readonly (number | null)[], limit: number | null, least: number): void {
    const most = Math.max(least, limit === null ? 0 : limit * 1.25, ...values.map((value) => value ?? 0)) || 1;
    const x = (k: number) => (values.length < 2 ? 0 : (k / (values.length - 1)) * WIDTH).toFixed(1);
    const y = (value: number) => (HEIGHT - 1 - (value / most) * (HEIGHT - 3)).toFixed(1);
    let [line, area, from] = ["", "", -1];
    values.forEach((value, k) => {
      if (value !== null) {
        line += `${from < 0 ? "M" : "L"}${x(k)} ${y(value)}`;
        if (from < 0) from = k;
      }
      const ends = from >= 0 && (k === values.length - 1 || values[k + 1] === null);
      if (!ends) return;
      const top = values.slice(from, k + 1).map((v, j) => `L${x(from + j)} ${y(v as number)}`).join("");
      area += `M${x(from)} ${HEIGHT}${top}L${x(k)} ${HEIGHT}Z`;
      from = -1;
    });
    this.line.setAttribute("d", line);
    this.area.setAttribute("d", area);
    this.limit.setAttribute("visibility", limit === null ? "hidden" : "visible");
    if (limit !== null) for (const side of ["y1", "y2"]) this.limit.setAttribute(side, y(limit));
  }

  say(value: string, note: string, high: boolean): void {
    if (this.value.textContent !== value) this.value.textContent = value;
    if (this.note.textContent !== note) this.note.textContent = note;
    this.root.classList.toggle("high", high);
    this.svg.setAttribute("aria-label", `${this.name}: ${value}, ${note}`);
  }
}

export class Charts {
  private readonly rate = new Chart("Arrivals", "Points that came or changed, over the window");
  private readonly share = new Chart("Outliers", "Share of arrivals that are outliers; dashed: what is expected of the radius");
  private readonly staleness = new Chart("Staleness", "How much farther arrivals lie from the map's rows than those from each other; 0 fits, 1 does not fit at all; dashed: where the operator wants to be told");

  constructor(root: HTMLElement) {
    root.replaceChildren(this.rate.root, this.share.root, this.staleness.root);
  }

  draw(figures: Figures): void {
    const { series, window, promised } = figures;
    const bucket = window / Math.max(series.arrivals.length, 1);
    this.rate.draw(series.arrivals.map((arrivals) => arrivals / bucket), null, 0.1);
    this.rate.say(rate(figures.rate), figures.quiet > 30 ? `quiet for ${span(figures.quiet)}` : `last ${span(window)}`, false);

    this.share.draw(series.arrivals.map((all, k) => (all > 0 ? series.outliers[k] / all : null)), promised, 0.05);
    this.share.say(figures.arrivals === 0 ? "–" : percent(figures.share), promised === null ? "of arrivals" : `expect ${percent(promised)}`, figures.excess);

    this.staleness.draw(series.staleness, figures.limit, 0.3);
    const { staleness, stale } = figures;
    const few = figures.arrivals < FEW;
    const word = staleness === null ? "not kept" : figures.arrivals === 0 ? "no arrivals" : few ? "too few to say" : stale ? "stale" : figures.limit !== null && staleness > figures.limit ? `above ${short(figures.limit)}` : "fits well";
    this.staleness.say(staleness === null || few ? "–" : short(Number(staleness.toFixed(2))), word, stale);
  }
}

function span(seconds: number): string {
  if (seconds >= 7200) return `${short(Math.round(seconds / 360) / 10)} h`;
  return seconds >= 120 ? `${short(Math.round(seconds / 60))} min` : `${short(Math.round(seconds))} s`;
}
