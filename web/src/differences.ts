// What differs between two stretches of time, in words and tables.

import { csv } from "./csv";
import { button, download, make } from "./dom";
import type { ComparedPoint, Comparison, Difference, Listed, Region } from "./types";
import { called, capital, count, large, legible, number, onDay, percent } from "./words";

/** Lines that a table shows; the CSV has all. */
const SHOWN = 200;
export const ARROWS = { gained: "▲", lost: "▼" } as const;

export interface DifferencesWays {
  title(cluster: string): string;
  goCluster(name: string): void;
  /** To a point; `left` says that it was removed at its time. */
  goPoint(point: ComparedPoint, left: boolean): void;
  close(): void;
}

/** What became of the regions, as one sentence. */
export function summary(regions: readonly Pick<Region, "change">[]): string {
  const [gained, lost] = (["gained", "lost"] as const).map((change) => regions.filter((region) => region.change === change).length);
  if (gained + lost === 0) return "No region gained or lost share beyond chance.";
  const some = (many: number) => (many === 0 ? "none" : number(many));
  return `Of ${count(regions.length, "region")}, ${some(gained)} gained and ${some(lost)} lost share beyond chance.`;
}

/** "12 % → 31 %". */
export const shares = ({ share_a, share_b }: Difference): string => `${percent(share_a)} → ${percent(share_b)}`;

/** How often chance alone makes as large a difference anywhere. */
export const byChance = ({ adjusted }: Difference): string => `by chance once in ${large(1 / adjusted)} comparisons`;

/** The test, and what counts as beyond chance. */
export const testOf = ({ test, level }: Comparison): string => `${test}; beyond chance is p below ${level}`;

/** Newcomers and those who left as CSV. */
export function pointsCsv({ newcomers, left }: Comparison): string {
  const all = [...newcomers.points.map((point) => ["newcomer", point] as const), ...left.points.map((point) => ["left", point] as const)];
  const space = all.some(([, { z }]) => z !== undefined);
  const heading = ["change", "id", "label", "cluster", "verdict", "x", "y", ...(space ? ["z"] : []), "t"];
  return csv(heading, all.map(([change, { id, label, cluster, verdict, x, y, z, t }]) => [change, id, label, cluster, verdict, x, y, ...(space ? [z ?? null] : []), t]));
}

/** What a table leaves out. */
export function rest({ count: all, points }: Listed): string {
  const more = points.length - SHOWN;
  return [more > 0 ? `${number(more)} more in the CSV.` : "", all > points.length ? `The server lists the latest ${number(points.length)} of ${number(all)}.` : ""].filter(Boolean).join(" ");
}

export class Differences {
  private readonly presets = make("div", "actions");
  private readonly stretches = make("ul", "stretches");
  private readonly said = make("p", "sum");
  private readonly findings = make("div");
  private readonly save: HTMLButtonElement;
  private answer: Comparison | null = null;

  constructor(root: HTMLElement, private readonly ways: DifferencesWays) {
    const bar = make("div", "bar");
    this.save = button("first", "CSV", () => this.answer && download("lion-compare.csv", new Blob([pointsCsv(this.answer)], { type: "text/csv" })));
    this.save.title = "Save newcomers and those who left as CSV";
    const close = button("", "Close", () => this.ways.close());
    close.title = "Stop comparing (c)";
    bar.append(make("b", "", "B against A"), this.save, close);
    this.said.setAttribute("role", "status");
    root.append(bar, this.presets, this.stretches, this.said, this.findings);
  }

  /** Stretches to choose from. */
  offer(presets: readonly { name: string; choose(): Promise<void> }[]): void {
    this.presets.replaceChildren(...presets.map(({ name, choose }) => button("", name, () => void choose().catch(() => this.wait("The server does not answer.", true)))));
  }

  /** The stretches in words, and how many points they have where that is known. */
  choose(stretches: readonly string[], points: readonly number[] = []): void {
    this.stretches.replaceChildren(...stretches.map((text, k) => {
      const item = make("li");
      item.append(make("i", "ab"[k]), make("b", "", "AB"[k]), make("span", "", text), make("small", "", k in points ? count(points[k], "point") : ""));
      return item;
    }));
  }

  /** While there is no answer: it is awaited, or this went wrong. */
  wait(text: string, wrong = false): void {
    this.said.textContent = text;
    this.said.classList.toggle("problem", wrong);
    if (wrong) this.clear();
  }

  private clear(): void {
    this.answer = null;
    this.save.disabled = true;
    this.findings.replaceChildren();
  }

  show(answer: Comparison): void {
    this.answer = answer;
    this.save.disabled = answer.newcomers.points.length + answer.left.points.length === 0;
    this.wait(summary(answer.regions));
    this.findings.replaceChildren(
      this.changes(answer), make("p", "test", `${testOf(answer)}.`),
      ...this.table("Newcomers", "In B and not before", answer.newcomers, false),
      ...this.table("Left", "There in A and removed since", answer.left, true),
    );
  }

  /** Outliers and clusters that gained or lost, and how many did not. */
  private changes({ clusters, outliers }: Comparison): HTMLElement {
    const list = make("ul", "changes");
    const changed = clusters.filter(({ change }) => change !== null).sort((p, q) => p.adjusted - q.adjusted);
    list.append(...changed.map((cluster) => this.change(cluster, capital(called(this.ways.title(cluster.name))), () => this.ways.goCluster(cluster.name))));
    list.append(this.change(outliers, "Outliers"));
    const same = clusters.length - changed.length;
    if (same > 0) list.append(make("li", "same", changed.length === 0 ? "No cluster gained or lost share beyond chance." : `${same === 1 ? "The other cluster" : `The ${number(same)} other clusters`} changed no more than by chance.`));
    return list;
  }

  private change(difference: Difference, name: string, go?: () => void): HTMLElement {
    const item = make("li");
    const { change } = difference;
    const arrow = make("i", change ?? "", change ? ARROWS[change] : "=");
    arrow.title = change ?? "no change beyond chance";
    const what = go ? button("", name, go) : make("b", "", name);
    item.append(arrow, what, make("span", "", shares(difference)), make("small", "", change ? `${change}; ${byChance(difference)}` : "no change beyond chance"));
    return item;
  }

  private table(name: string, about: string, listed: Listed, left: boolean): HTMLElement[] {
    const heading = make("h2", "", `${name} (${number(listed.count)})`);
    heading.append(make("small", "", about));
    if (listed.points.length === 0) return [heading];
    const table = make("table");
    const head = table.createTHead().insertRow();
    for (const text of ["id", "label", "cluster", left ? "left" : "came"]) {
      const cell = make("th", "", text);
      cell.scope = "col";
      head.append(cell);
    }
    const body = table.createTBody();
    body.append(...listed.points.slice(0, SHOWN).map((point) => this.line(point, left)));
    return [heading, table, make("p", "none", rest(listed))];
  }

  private line(point: ComparedPoint, left: boolean): HTMLElement {
    const made = make("tr");
    const { id, label, cluster, verdict, t } = point;
    const go = button("", legible(id), () => this.ways.goPoint(point, left));
    go.title = legible(id);
    made.insertCell().append(go);
    const outlier = verdict === "outlier";
    for (const text of [legible(label ?? "–"), outlier ? "outlier" : cluster === null ? "–" : legible(this.ways.title(cluster)), onDay(t)]) {
      const cell = made.insertCell();
      cell.textContent = cell.title = text;
    }
    if (outlier) made.cells[2].className = "outlier";
    return made;
  }
}
