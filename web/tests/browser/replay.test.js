// A history as one page that is opened from the disk, without a server and without a network. See harness.js for what this needs.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { COLOURS, makeTable, pause, soon, stranger, told, where, World } from "./harness.js";

const rows = makeTable(70);
const like = (id, row) => ({ id, x: row.x, label: row.label });

let world;
let file;
/** What the server had after some events: the number of the event, the points, and what was unusual. Coordinates have 32 bits. */
const known = [];
const sorted = (points) => points.sort((a, b) => (a[0] < b[0] ? -1 : 1));

/** The points that the server has now. */
async function note() {
  const { last, points, health } = await world.get("/api/live");
  known.push({ last, forming: health.forming.map(({ group }) => group), stale: health.stale !== null, points: sorted(points.id.map((id, k) => [id, Math.fround(points.x[k]), Math.fround(points.y[k]), points.verdict[k], points.cluster[k]])) });
}

async function switched(path) {
  const answer = await fetch(`${world.url}${path}`, { method: "POST" });
  assert.equal(answer.status, 202);
  for (;;) {
    const { state } = await world.get("/api/map/update");
    if (state === "done") return;
    assert.equal(state, "running");
    await pause(50);
  }
}

// Points come, outliers gather, the map takes them in, points come and leave, and the map goes back.
before(async () => {
  world = new World();
  world.fit(rows, ["--perplexity", "15", "--iterations", "400"]);
  await world.serve();
  await world.launch();
  await world.post(rows.slice(0, 12).map((row, k) => like(`usual-${k}`, row)));
  await note();
  for (let k = 0; k < 30; k++) await world.post([{ id: `kin-${k}`, x: stranger(1, k), label: "kin" }]);
  await note();
  await fetch(`${world.url}/api/clusters/a`, { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify({ name: "the first", who: "anna" }) });
  await switched("/api/map/update");
  await note();
  await world.post(rows.slice(20, 32).map((row, k) => like(`usual-${k}`, row)));
  await world.post([{ delete: "usual-3" }, { id: "later", x: stranger(1, 99), label: "kin" }, { id: "odd", x: stranger(3, 1) }]);
  await note();
  await switched("/api/map/revert");
  await world.post([like("last", rows[3])]);
  await note();
  file = world.replay("replay", "store.db");
});
after(() => world?.end());

const seek = (page, n) => page.locator("#slider").evaluate((input, value) => {
  input.value = String(value);
  input.dispatchEvent(new Event("input"));
}, n);
const still = (page) => page.waitForFunction(() => !window.lion.crossing.busy, undefined, { timeout: 15_000 });
const at = (page, n) => page.waitForFunction((wanted) => window.lion.state.last === wanted && !window.lion.crossing.busy, n, { timeout: 15_000 });
const points = async (page) => sorted(await page.evaluate(() => [...window.lion.state.points.values()].map(({ id, x, y, verdict, cluster }) => [id, x, y, verdict, cluster])));
/** What the page says is unusual. */
const unusual = (page) => page.evaluate(() => [window.lion.state.forming().map(({ group }) => group), window.lion.state.stale !== null]);
/** The last number of the history. */
const end = () => known[known.length - 1].last;

test("the page opens offline at the end of the history", async (t) => {
  const page = await world.openFile(t, file);
  await page.locator("#moment", { hasText: `event ${end()} of ${end()}` }).waitFor();
  await soon(async () => assert.deepEqual(await points(page), known[known.length - 1].points));
  await soon(async () => assert.deepEqual(await unusual(page), [known[4].forming, known[4].stale]));
  await soon(async () => assert.equal(await page.locator("#pill").innerText(), "Recorded"));
  await soon(async () => assert.match(await page.locator("#about").innerText(), /210 rows/));
  await soon(async () => assert.ok(await page.locator("#past").isHidden()));
  for (const part of ["#update", "#banner", "#failure", "#compare-button"]) await soon(async () => assert.ok(await page.locator(part).isHidden(), part));
  await soon(async () => assert.equal(await page.locator(".pencil:visible").count(), 0, "nothing can be renamed"));
  await soon(async () => assert.equal(await page.getByRole("button", { name: /Take it into|Acknowledge|Dismiss|Update the map/ }).count(), 0));
  assert.match(await told(page, "map-updated"), /went back|version 1/i);
  await page.locator("#legend", { hasText: "the first" }).waitFor();
  await pause(300);
  const pixels = await world.pixels(page);
  for (const label of ["a", "b", "c"]) assert.ok(pixels.like(COLOURS[label]) > 200, `${label} is drawn`);
  await world.shot(page, "replay-end-light");
});

test("every moment is on the map of its time, both ways", async (t) => {
  const page = await world.openFile(t, file);
  for (const k of [1, 3, 0, 2, 4, 1]) {
    await seek(page, known[k].last);
    await at(page, known[k].last);
    await soon(async () => assert.deepEqual(await points(page), known[k].points, `after event ${known[k].last}`));
    await soon(async () => assert.deepEqual(await unusual(page), [known[k].forming, known[k].stale], `after event ${known[k].last}`));
  }
  await page.locator("#alarms .alarm.forming").waitFor();
  await pause(900);
  await world.shot(page, "replay-forming-light");
  await seek(page, 0);
  await at(page, 0);
  await soon(async () => assert.deepEqual(await points(page), []));
  await page.locator("#moment", { hasText: "the start" }).waitFor();
});

test("steps, by buttons and by keys", async (t) => {
  const page = await world.openFile(t, file);
  await page.keyboard.press(",");
  await at(page, end() - 1);
  await page.keyboard.press(",");
  await at(page, end() - 2);
  await page.getByRole("button", { name: "One step back" }).click();
  await at(page, end() - 3);
  // Across the switch, which is one step; the group that forms again is told after it.
  await page.locator("#about", { hasText: "version 2" }).waitFor();
  await soon(async () => assert.deepEqual(await points(page), known[3].points));
  await page.getByRole("button", { name: "One step on" }).click();
  await page.locator("#about", { hasText: "210 rows" }).waitFor();
  await page.locator("#over").focus();
  await page.keyboard.press(".");
  await at(page, end() - 1);
  await page.keyboard.press(".");
  await at(page, end());
  await soon(async () => assert.ok(await page.locator("#golive").isDisabled(), "at the end"));
  await page.keyboard.press("Escape");
  await seek(page, 5);
  await at(page, 5);
  await page.keyboard.press("e");
  await at(page, end());
  await soon(async () => assert.deepEqual(await points(page), known[known.length - 1].points));
});

test("it plays from the start to the end, and the map morphs on the way", async (t) => {
  const page = await world.openFile(t, file, { dark: true });
  await page.locator("#speed").selectOption("16");
  await page.keyboard.press(" ");
  await page.locator("#pill", { hasText: "Replaying" }).waitFor();
  await page.waitForFunction(() => window.lion.stage.scene.morph?.stages.rest > 0.3, undefined, { timeout: 30_000 });
  await world.shot(page, "replay-morph-dark");
  await page.locator("#about", { hasText: "version 2" }).waitFor();
  await page.locator("#pill", { hasText: "Recorded" }).waitFor({ timeout: 30_000 });
  await at(page, end());
  await soon(async () => assert.deepEqual(await points(page), known[known.length - 1].points));
  // Paused in the middle, and on again.
  await page.locator("#play").click();
  await page.locator("#pill", { hasText: "Replaying" }).waitFor();
  await page.locator("#play").click();
  await page.locator("#pill", { hasText: "Recorded" }).waitFor();
  await soon(async () => assert.ok(await page.evaluate(() => window.lion.state.last) < end()));
  await world.shot(page, "replay-paused-dark");
});

test("it fits a phone, and who wants less motion gets none", async (t) => {
  const page = await world.openFile(t, file, { width: 390, height: 844, still: true });
  await seek(page, known[1].last);
  await at(page, known[1].last);
  const { x, width } = await page.locator(".track").boundingBox();
  assert.ok(width > 300, `the slider is ${width} pixels wide`);
  await soon(async () => assert.ok(x >= 0 && (await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, "nothing sticks out"));
  await soon(async () => assert.ok(await page.locator("#moment").evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth), "the moment can be read"));
  for (const name of ["back", "on", "play", "golive"]) await soon(async () => assert.ok(await page.locator(`#${name}`).isVisible(), name));
  await world.shot(page, "replay-phone-light");
  const place = await where(page, "kin-1");
  await page.mouse.click(place.x, place.y);
  await page.locator("#card", { hasText: "kin-1" }).waitFor();
});

test("snapshots are steps: rows come, move and leave", async (t) => {
  const line = ({ id, label, x }, by) => [id, label, ...x.map((v, d) => (d === 1 ? v + by : v))].join(",");
  const heading = ["id", "label", ...rows[0].x.map((_, d) => `d${d}`)].join(",");
  const day = (name, some) => writeFileSync(join(world.folder, name), [heading, ...some].join("\n"));
  day("monday.csv", rows.slice(0, 30).map((row) => line(row, 0)));
  day("tuesday.csv", rows.slice(10, 50).map((row) => line(row, 0.3)));
  day("wednesday.csv", [...rows.slice(10, 50).map((row) => line(row, 0.3)), ...Array.from({ length: 12 }, (_, k) => line({ id: `new-${k}`, label: "new", x: stranger(2, k) }, 0))]);
  const days = world.replay("days", world.map, "monday.csv", "tuesday.csv", "wednesday.csv", "--label", "label", "--title", "Three days");
  const page = await world.openFile(t, days);
  await soon(async () => assert.equal(await page.locator("h1").innerText(), "Three days"));
  await page.locator("#moment", { hasText: "wednesday" }).waitFor();
  await page.locator("#moment", { hasText: "step 3 of 3" }).waitFor();
  await soon(async () => assert.deepEqual(await page.locator("#slider").evaluate(({ min, max, value }) => [min, max, value]), ["0", "3", "3"]));
  const count = () => page.evaluate(() => window.lion.state.points.size);
  await soon(async () => assert.equal(await count(), 52));
  await world.shot(page, "replay-days-light");
  await page.keyboard.press(",");
  await page.locator("#moment", { hasText: "tuesday" }).waitFor();
  await soon(async () => assert.equal(await count(), 40));
  await page.keyboard.press(",");
  await page.locator("#moment", { hasText: "monday" }).waitFor();
  await soon(async () => assert.equal(await count(), 30));
  await page.keyboard.press(",");
  await page.locator("#moment", { hasText: "the start" }).waitFor();
  await soon(async () => assert.equal(await count(), 0));
  await page.keyboard.press(" ");
  await page.locator("#moment", { hasText: "monday" }).waitFor();
  await page.locator("#moment", { hasText: "tuesday" }).waitFor();
  await page.locator("#moment", { hasText: "wednesday" }).waitFor();
  await soon(async () => assert.equal(await count(), 52));
  await page.locator("#pill", { hasText: "Recorded" }).waitFor();
  await page.locator("#moment", { hasText: "step 3 of 3" }).waitFor();
  await still(page);
  // What happened has the name of its snapshot.
  assert.match(await told(page, "removed"), /tuesday/);
});
