// A history that is the same every time.

import type { LiveEvent, Past, Verdict } from "../../src/types";

/** A stream of random events as the server would number them, with the kinds that the changes deserve. */
export function stream(length: number, seed: number): LiveEvent[] {
  let word = seed;
  const random = () => ((word = (word * 1664525 + 1013904223) >>> 0) / 2 ** 32);
  const points = new Map<string, Past>();
  const events: LiveEvent[] = [];
  const titles = new Map<string, string>();
  while (events.length < length) {
    const n = events.length + 1;
    const id = `p${Math.floor(random() * 20)}`;
    const from = points.get(id) ?? null;
    const dice = random();
    if (dice < 0.1 && from) {
      points.delete(id);
      events.push({ n, t: n, kind: "removed", id, from });
    } else if (dice < 0.14) {
      const group = Math.floor(random() * 4);
      events.push({ n, t: n, kind: random() < 0.7 ? "forming" : "dissolved", group, groups: [group, 4], size: 5, x: 1, y: 2, ids: [] });
    } else if (dice < 0.16) {
      const evidence = { seen: 1, of: 2, expected: 0.5, e_value: 9, since: 0 };
      events.push({ n, t: n, kind: random() < 0.6 ? "cluster-stale" : "cluster-fresh", cluster: String(Math.floor(random() * 3)), score: 0.1, evidence });
    } else if (dice < 0.18) {
      const cluster = String(Math.floor(random() * 3));
      events.push(random() < 0.5 ? { n, t: n, kind: "vanishing", cluster, expected: 12, seen: 1, why: "arrivals" } : { n, t: n, kind: "recovered", cluster });
    } else if (dice < 0.19) {
      const [cluster, title] = [String(Math.floor(random() * 3)), random() < 0.3 ? null : `title ${n}`];
      events.push({ n, t: n, kind: "renamed", cluster, group: null, title, before: titles.get(cluster) ?? null, who: null });
      if (title === null) titles.delete(cluster);
      else titles.set(cluster, title);
    } else if (dice < 0.2) {
      events.push({ n, t: n, kind: random() < 0.5 ? "stale" : "fresh", staleness: random(), arrivals: 60 });
    } else {
      const outlier = random() < 0.3;
      const place: Past = {
        t: n, x: random(), y: random(), verdict: (outlier ? "outlier" : "interpolated") as Verdict, score: random(),
        group: outlier ? Math.floor(random() * 4) : null, cluster: outlier ? null : String(Math.floor(random() * 3)), label: random() < 0.5 ? "a" : null,
      };
      points.set(id, place);
      events.push({ ...place, n, kind: from ? "moved" : "appeared", id, nearest: 0, nearest_id: "0", nearest_distance: 1, neighbours: 2, from });
    }
  }
  return events;
}
