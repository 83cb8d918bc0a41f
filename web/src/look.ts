// Which points are shown, and in which colour.

import { NO_CLUSTER } from "./columns";
import type { ClusterLook } from "./base";
import type { MergedCluster } from "./explained";
import type { Spot } from "./geometry";
import { CLASSES, colourClasses, NONE, onPaper, OTHER, OUTLIER, type Rgb } from "./palette";
import type { Point, State } from "./state";
import type { MapInfo } from "./types";
import type { Version } from "./versions";

/** Parts of the picture that can be hidden beside the classes. */
export type Layer = "base" | "placed" | "outliers";

export class Look {
  /** By which of its two names a live point is coloured: that of the cluster it landed in, or its own label. */
  by: "cluster" | "label" = "cluster";
  /** Whether the classes are clusters or labels, that a live point is in one of; they are values of a column otherwise, which it has none of. */
  clustered = true;
  readonly hidden = new Set<string | null>();
  readonly off = new Set<Layer>();
  /** Labels of live points that no cluster has. */
  readonly strangers: string[] = [];
  /** The classes that stand out while their name is pointed at. */
  focus: readonly (string | null)[] | undefined = undefined;
  /** The clusters that the overview takes together, where there are more of them than colours. */
  merged: readonly MergedCluster[] = [];
  /** Whether the paper is dark. */
  dark = false;
  private readonly colours = new Map<string, Rgb>();
  private index = new Map<string, number>();

  constructor(private readonly shown: Version, private readonly state: Pick<State, "title">) {
    this.restart();
  }

  /** Rows are in clusters that have nothing to do with those of before. */
  restart(): void {
    const { clusters } = this.map;
    const colours = colourClasses(clusters);
    this.colours.clear();
    this.hidden.clear();
    clusters.forEach(({ name, colour }, k) => this.colours.set(name, colour ?? colours[k]));
    this.adopt();
  }

  /** What people call a cluster. */
  title(name: string): string {
    return this.state.title(name);
  }

  get map(): MapInfo {
    return this.shown.info;
  }

  /** Another version of the map is shown: names that are known keep their colours, new ones get what is left. */
  adopt(): void {
    const { clusters } = this.map;
    for (const { name } of clusters) this.give(name);
    this.index = new Map(clusters.map(({ name }, k) => [name, k]));
    this.merged = this.merged.map(({ name, clusters: of }) => ({ name, clusters: of.filter((one) => this.index.has(one)) })).filter((one) => one.clusters.length > 0);
  }

  /** Clusters that the overview takes together have one colour, as they have one name there: else most of the map would be grey. That of the largest of them, if none has it already. */
  merge(merged: readonly MergedCluster[]): void {
    this.merged = merged;
    const taken = new Set<Rgb>();
    for (const { clusters } of merged) {
      const own = clusters.map((name) => this.colours.get(name)).find((colour) => colour && colour !== OTHER && !taken.has(colour));
      const colour = own ?? CLASSES.find((one) => !taken.has(one)) ?? OTHER;
      taken.add(colour);
      for (const name of clusters) this.colours.set(name, colour);
    }
  }

  /** What a cluster of the overview is called. */
  mergedTitle({ name, clusters }: MergedCluster): string {
    const first = this.title(clusters[0]);
    return clusters.length === 1 ? first : name ?? `${first} and ${clusters.length - 1} more`;
  }

  /** Whether nothing is shown of a cluster of the overview. */
  hidesMerged(name: string): boolean {
    return this.merged.some((one) => one.name === name && one.clusters.every((cluster) => this.hidden.has(cluster)));
  }

  private give(name: string): void {
    if (!this.colours.has(name)) this.colours.set(name, CLASSES[this.colours.size] ?? OTHER);
  }

  colour(name: string | null): Rgb {
    return onPaper(name === null ? NONE : this.colours.get(name) ?? OTHER, this.dark);
  }

  private classOf(point: Point): string | null {
    return this.by === "label" ? point.label : point.cluster;
  }

  /** A label seen for the first time gets the next colour that is left. True when it is new. */
  meet(label: string | null): boolean {
    if (label === null || this.colours.has(label)) return false;
    this.give(label);
    this.strangers.push(label);
    return true;
  }

  /** The colour of a live point, or null if it is hidden. */
  of(point: Point): Rgb | null {
    const outlying = point.verdict === "outlier";
    if (this.off.has(outlying ? "outliers" : "placed")) return null;
    const name = this.classOf(point);
    const labelled = this.by === "label" && name !== null;
    if ((!outlying || labelled) && this.hidden.has(name)) return null;
    return outlying && !labelled ? OUTLIER : this.colour(name);
  }

  /** The looks of the base map's clusters, first that of the rows in none; of the version that is shown, or another. */
  base(state: State, { clusters }: Pick<MapInfo, "clusters"> = this.map): ClusterLook[] {
    const one = (name: string | null): ClusterLook => ({
      colour: state.vanishing.has(name ?? "") ? NONE : this.colour(name),
      shown: !this.off.has("base") && !this.hidden.has(name),
      strength: (this.focus === undefined || this.focus.includes(name) ? 1 : 0.15) * (state.vanishing.has(name ?? "") ? 0.55 : 1),
    });
    return [one(null), ...clusters.map(({ name }) => one(name))];
  }

  showsRow(row: number): boolean {
    return !this.off.has("base") && !this.hidden.has(this.clusterOfRow(row));
  }

  clusterOfRow(row: number): string | null {
    const k = this.shown.columns.cluster[row];
    return k === NO_CLUSTER ? null : this.map.clusters[k]?.name ?? null;
  }

  centre(name: string): Spot | undefined {
    const k = this.index.get(name);
    return k === undefined ? undefined : this.map.clusters[k];
  }
}
