// Names of clusters, made of what is known of them, at up to three levels of detail.

import { api } from "./api";
import type { Cluster, ExplainedCluster, Explanation, MapInfo } from "./types";

/** From this zoom on the usual clusters are named in the place of merged ones, and from that on their parts, too. */
const USUAL = 1.8;
const FINE = 3.6;

/** A cluster with a name; `own` is that of one that points do not know. */
export interface NamedCluster extends Cluster { own?: string }

/** A cluster of the overview: its name, null if nothing sets it apart, and the clusters that it is made of, the largest first, by the names that points know. */
export interface MergedCluster { name: string | null; clusters: readonly string[] }

export class LevelNames {
  private answer: Explanation | null = null;
  private asked = -1;

  /** Asks for the names of a version of the map. The names of the clusters that points know; null if they are no other, or another version was asked for meanwhile. */
  async ask({ version, recording }: MapInfo): Promise<ReadonlyMap<string, string> | null> {
    if (recording || this.asked === version) return null;
    this.asked = version;
    this.answer = null;
    // A server of before does not know them, and one that is busy may fail to tell: the map does without.
    const answer = await api.explained(version).catch(() => null);
    if (this.asked !== version || !answer) return null;
    this.answer = answer;
    const named = answer.clusters.filter((cluster) => cluster.named && cluster.cluster);
    return new Map(named.map(({ cluster, name }) => [cluster as string, name]));
  }

  /** What the overview takes together, the largest first; none where the clusters that points know are few enough to be named at once. */
  merged(known: readonly Cluster[]): MergedCluster[] {
    const { answer } = this;
    if (!answer || answer.usual_level === 1) return [];
    const explained = new Map(answer.clusters.map((cluster) => [cluster.id, cluster]));
    const rows = new Map(known.map((cluster) => [cluster.name, cluster.rows]));
    const parts = new Map<ExplainedCluster, string[]>();
    for (const cluster of answer.clusters) {
      if (!cluster.cluster || !rows.has(cluster.cluster)) continue;
      let top = cluster;
      for (let above: ExplainedCluster | undefined = top; above; above = explained.get(above.parent ?? -1)) top = above;
      parts.set(top, [...(parts.get(top) ?? []), cluster.cluster]);
    }
    const size = (name: string) => rows.get(name) ?? 0;
    return [...parts]
      .sort(([a], [b]) => b.size - a.size)
      .map(([{ name, named }, clusters]) => ({ name: named ? name : null, clusters: clusters.sort((a, b) => size(b) - size(a)) }));
  }

  /** The clusters to name at this zoom, of those that points know and those of other levels. `kept` are named in any case. */
  at(zoom: number, known: readonly Cluster[], kept: (cluster: Cluster) => number): NamedCluster[] {
    const { answer } = this;
    if (!answer || answer.levels === 1) return [...known];
    const of = (level: (level: number) => boolean): NamedCluster[] => answer.clusters
      .filter(({ cluster, named, centre, level: at }) => !cluster && named && centre && level(at))
      .map(({ name, size, centre }) => ({ name, own: name, rows: size, x: (centre as number[])[0], y: (centre as number[])[1], z: centre?.[2] }));
    const usual = answer.usual_level;
    if (zoom >= FINE) return [...known, ...of((level) => level > usual)];
    if (zoom >= USUAL || usual === 1) return [...known];
    // Where nothing sets the merged ones apart, they would leave the map without names.
    const merged = of((level) => level === 1);
    if (merged.length === 0) return [...known];
    const first = new Set(answer.clusters.filter(({ cluster, level }) => cluster && level === 1).map(({ cluster }) => cluster));
    return [...known.filter((cluster) => first.has(cluster.name) || kept(cluster)), ...merged];
  }
}
