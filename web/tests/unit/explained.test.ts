// Names of clusters at several levels of detail, and how a contrast is told.

import assert from "node:assert/strict";
import { test } from "node:test";
import { answerFrom, type Api } from "../../src/api";
import type { Columns } from "../../src/columns";
import { LevelNames } from "../../src/explained";
import { Look } from "../../src/look";
import { contrast, effectText } from "../../src/summary";
import type { Cluster, ExplainedCluster, ExplainedColumn, Explanation, MapInfo } from "../../src/types";

const cluster = (id: number, name: string, level: number, known: string | null, named = true): ExplainedCluster =>
  ({ id, name, size: 10 + id, share: 0.1, level, columns: [], keyword_shares: [], typical: [], centre: [id, -id], cluster: known, named });
const explanation: Explanation = {
  by: "density", levels: 3, usual_level: 2,
  clusters: [cluster(0, "all sport", 1, null), cluster(1, "space", 1, "3"), cluster(2, "hockey", 2, "1"), cluster(3, "cluster", 2, "2", false), cluster(4, "rockets", 3, null)],
};
const known: Cluster[] = ["1", "2", "3"].map((name, k) => ({ name, rows: 10 - k, x: k, y: k }));
const info = (version: number, more = {}): MapInfo => ({ version, ...more }) as MapInfo;
const never = (): number => 0;

test("names come with the version that was asked for last, and an old server has none", async () => {
  const names = new LevelNames();
  answerFrom({ explained: async (version: number) => (version === 9 ? Promise.reject(new Error("404")) : explanation) } as unknown as Api);
  const [first, second] = [names.ask(info(1)), names.ask(info(2))];
  assert.equal(await first, null);
  assert.deepEqual([...((await second) ?? [])], [["3", "space"], ["1", "hockey"]]);
  assert.equal(await names.ask(info(2)), null, "it is known");
  assert.equal(await names.ask(info(9)), null);
  assert.deepEqual(names.at(1, known, never), known, "without names the clusters are as they are");
  assert.equal(await new LevelNames().ask(info(1, { recording: { steps: null } })), null);
});

test("merged clusters are named first, and parts of clusters from near", async () => {
  const names = new LevelNames();
  answerFrom({ explained: async () => explanation } as unknown as Api);
  await names.ask(info(1));
  const at = (zoom: number, kept = never as (cluster: Cluster) => number) => names.at(zoom, known, kept).map(({ name, own }) => own ?? name);
  assert.deepEqual(at(1), ["3", "all sport"]);
  assert.deepEqual(at(1, ({ name }) => Number(name === "2")), ["2", "3", "all sport"], "one that vanishes is always named");
  assert.deepEqual(at(2), ["1", "2", "3"]);
  assert.deepEqual(at(5), ["1", "2", "3", "rockets"]);
});

test("merged clusters that nothing sets apart leave the names to those that they are made of", async () => {
  const names = new LevelNames();
  answerFrom({ explained: async () => ({ ...explanation, clusters: explanation.clusters.map((one) => ({ ...one, named: false })) }) } as unknown as Api);
  await names.ask(info(1));
  assert.deepEqual(names.at(1, known, never), known);
});

test("clusters of the overview tell what they are made of, the largest first", async () => {
  const names = new LevelNames();
  const part = (id: number, name: string, at: number, of: string | null, parent: number | null) => ({ ...cluster(id, name, at, of), parent });
  const clusters = [part(0, "all sport", 1, null, null), part(1, "space", 1, "3", null), part(2, "hockey", 2, "2", 0), part(3, "tennis", 2, "1", 0), part(4, "rockets", 3, null, 1)];
  answerFrom({ explained: async () => ({ ...explanation, clusters: clusters.map((one) => ({ ...one, size: 10 - one.id })) }) } as unknown as Api);
  assert.deepEqual(names.merged(known), [], "before the answer");
  await names.ask(info(1));
  assert.deepEqual(names.merged(known), [{ name: "all sport", clusters: ["1", "2"] }, { name: "space", clusters: ["3"] }]);
  const named = new Map([["1", "tennis"], ["2", "hockey"], ["3", "space"]]);
  const look = new Look({ info: { clusters: known } as MapInfo, columns: {} as Columns }, { title: (name) => named.get(name) ?? name });
  look.merge(names.merged(known));
  assert.equal(look.colour("1"), look.colour("2"), "one name, one colour");
  assert.notEqual(look.colour("1"), look.colour("3"));
  assert.deepEqual(look.merged.map((one) => look.mergedTitle(one)), ["all sport", "space"]);
  assert.equal(look.mergedTitle({ name: null, clusters: ["1", "2"] }), "tennis and 1 more");
  look.hidden.add("1");
  assert.ok(!look.hidesMerged("all sport"));
  look.hidden.add("2");
  assert.ok(look.hidesMerged("all sport"), "its name goes with the last of its clusters");
});

test("a contrast is told in the column's own units", () => {
  const column = (more: Partial<ExplainedColumn>): ExplainedColumn => ({ column: "c", kind: "number", value: null, effect: -1.234, error: 0.05, inside: 2012, outside: 71234.4, ...more });
  assert.equal(contrast(column({})), "2012 against 71,234");
  assert.equal(contrast(column({ kind: "date", inside: 0, outside: 19000.4 })), "1970-01-01 against 2022-01-08");
  assert.equal(contrast(column({ kind: "category", value: "basic", inside: 0.8, outside: 0.054 })), "basic: 80 % against 5.4 %");
  assert.equal(contrast(column({ inside: null, outside: 0.00001234 })), "– against 1.23e-5");
  assert.equal(effectText(column({})), "−1.23 ± 0.05");
});
