// The legend of a column of numbers: a ramp of colours with its two ends.

import { make } from "./dom";
import { css, type Rgb } from "./palette";

/** `note`: which values the ends are. */
export interface RampEnds { name: string; low: string; high: string; note: string; colours: readonly Rgb[] }

export class Ramp {
  private readonly root = make("div", "ramp");
  private readonly heading = make("h2");
  private readonly bar = make("i");
  private readonly ends = make("p");
  private readonly note = make("small");

  /** In a legend, whose list of classes it replaces. */
  constructor(private readonly legend: HTMLElement) {
    this.root.append(this.bar, this.ends, this.note);
    const first = legend.querySelector("h2");
    if (first) this.heading = first;
    first?.after(this.root);
  }

  /** Shows the ramp, or the classes if there is none. */
  show(ramp: RampEnds | null, title: string): void {
    this.heading.textContent = title;
    this.root.hidden = ramp === null;
    this.legend.classList.toggle("ramped", ramp !== null);
    if (!ramp) return;
    const { colours, low, high, note } = ramp;
    this.bar.style.background = `linear-gradient(90deg, ${colours.filter((_, k) => k % 8 === 0 || k === colours.length - 1).map((colour) => css(colour)).join(", ")})`;
    this.ends.replaceChildren(make("span", "", low), make("span", "", high));
    this.note.textContent = `${note}; grey: no value`;
  }
}
