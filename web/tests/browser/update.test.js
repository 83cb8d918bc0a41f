// The map is updated while people look at it. See harness.js for what this needs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { COLOURS, like, makeTable, pause, QUICK, soon, stranger, told, where, World, worldOf } from "./harness.js";

const rows = makeTable(70);

const world = worldOf((made) => made.fit(rows, QUICK), { anew: true });

const pill = (page, text) => page.waitForFunction((wanted) => document.querySelector("#pill").innerText === wanted, text, { timeout: 15_000 });
const classes = (page) => page.locator("#legend ul").first().locator("li:visible .class span").allInnerTexts();
/** Waits until the map is not on its way any more. */
const still = (page) => page.waitForFunction(() => !window.lion.crossing.busy, undefined, { timeout: 15_000 });
const seek = (page, n) => page.locator("#slider").evaluate((input, value) => {
  input.value = String(value);
  input.dispatchEvent(new Event("input"));
}, n);

/** Some points of the known classes, then outliers that gather. */
async function gather(page) {
  await world.post(rows.slice(0, 12).map((row, k) => like(`usual-${k}`, row)));
  for (let k = 0; k < 30; k++) await world.post([{ id: `kin-${k}`, x: stranger(1, k), label: "kin" }]);
  await page.locator("#alarms .alarm.forming", { hasText: "30 outliers, 30 labelled kin" }).waitFor();
}

/** Takes them in by the button, and waits until the new map is there. */
async function take(page) {
  await page.getByRole("button", { name: "Take it into the map" }).click();
  await told(page, "map-updated");
  await still(page);
}

test("a forming cluster is taken into the map before one's eyes", async (t) => {
  const page = await world.open(t);
  await gather(page);
  await world.shot(page, "update-before-light");
  await page.evaluate(() => {
    window.frames_ = [];
    const watch = () => {
      const at = (id) => window.lion.where(id);
      if (window.lion.crossing.busy) window.frames_.push([at("usual-0"), window.lion.stage.scene.morph?.stages ?? null]);
      requestAnimationFrame(watch);
    };
    watch();
  });
  await page.getByRole("button", { name: "Take it into the map" }).click();
  await page.waitForFunction(() => window.lion.stage.scene.morph?.stages.rest > 0.3, undefined, { timeout: 15_000 });
  await world.shot(page, "update-during-light");
  await still(page);
  assert.match(await told(page, "map-updated"), /The map was updated to version 2: 30 rows taken in; new: kin/);
  // First the whole map, then each row, then the new cluster.
  const stages = (await page.evaluate(() => window.frames_.map(([, s]) => s))).filter(Boolean);
  assert.ok(stages.length > 5, `${stages.length} frames of the morph`);
  assert.ok(stages.every(({ rigid, rest, grown }) => rigid >= rest - 1e-9 && rest >= grown - 1e-9));
  await soon(async () => assert.deepEqual(await classes(page), ["a", "b", "c", "kin"]));
  await soon(async () => assert.match(await page.locator("#about").innerText(), /240 rows, version 2/));
  await soon(async () => assert.match(await page.locator("#status").innerText(), /42 points · no outliers · nothing unusual/));
  await pause(300);
  const pixels = await world.pixels(page);
  for (const label of ["a", "b", "c"]) assert.ok(pixels.like(COLOURS[label]) > 200, `${label} keeps its colour`);
  assert.ok(pixels.like([18, 222, 170]) > 60, "the new cluster has a colour of its own");
  await world.shot(page, "update-after-light");
  // What the page has is what the server has.
  const live = await world.get("/api/live");
  const here = await page.evaluate(() => [...window.lion.state.points.values()].map(({ id, x, y, verdict }) => [id, x, y, verdict]));
  const there = live.points.id.map((id, k) => [id, live.points.x[k], live.points.y[k], live.points.verdict[k]]);
  assert.deepEqual(here.sort(), there.sort());
  // Life goes on.
  await world.post([{ id: "later", x: stranger(1, 99), label: "kin" }]);
  assert.match(await told(page, "appeared", "later"), /later landed in kin/);
});

test("the slider crosses versions both ways, and the past is seen on the map of its time", async (t) => {
  const page = await world.open(t);
  await gather(page);
  const before = await page.evaluate(() => [...window.lion.state.points.values()].map(({ id, x, y, verdict }) => [id, x, y, verdict]).sort());
  const [n, place] = [await page.evaluate(() => window.lion.state.last), await where(page, "usual-3")];
  await take(page);
  const after_ = await page.evaluate(() => [...window.lion.state.points.values()].map(({ id, x, y, verdict }) => [id, x, y, verdict]).sort());
  const last = await page.evaluate(() => window.lion.state.last);
  await seek(page, n);
  await page.locator("#about", { hasText: "210 rows in the map" }).waitFor();
  await still(page);
  await pause(1000);
  await soon(async () => assert.deepEqual(await page.evaluate(() => [...window.lion.state.points.values()].map(({ id, x, y, verdict }) => [id, x, y, verdict]).sort()), before));
  await soon(async () => assert.deepEqual(await classes(page), ["a", "b", "c"]));
  const there = await where(page, "usual-3");
  assert.ok(Math.hypot(there.x - place.x, there.y - place.y) < 3, "where it was");
  await page.locator("#alarms .alarm.forming").waitFor();
  await soon(async () => assert.equal(await page.getByRole("button", { name: "Take it into the map" }).count(), 0, "nothing can be done about the past"));
  await world.shot(page, "update-past-light");
  await seek(page, n - 20);
  await page.waitForFunction((wanted) => window.lion.state.last === wanted, n - 20);
  // Played on, it morphs again.
  await page.locator("#speed").selectOption("256");
  await page.locator("#play").click();
  await page.locator("#about", { hasText: "version 2" }).waitFor();
  await pill(page, "Live");
  await still(page);
  await soon(async () => assert.deepEqual(await page.evaluate(() => [...window.lion.state.points.values()].map(({ id, x, y, verdict }) => [id, x, y, verdict]).sort()), after_));
  await soon(async () => assert.ok((await page.evaluate(() => window.lion.state.last)) >= last));
  // From the past straight to now.
  await seek(page, 5);
  await page.locator("#about", { hasText: "210 rows" }).waitFor();
  await page.locator("#golive").click();
  await page.locator("#about", { hasText: "version 2" }).waitFor();
  await pill(page, "Live");
});

test("an update is undone, by somebody else too, and who missed it sees it", async (t) => {
  const page = await world.open(t, { still: true });
  await gather(page);
  await seek(page, 3);
  await pill(page, "Paused");
  const other = await world.open(t);
  await take(other);
  // Who looks at the past is not disturbed.
  await pause(500);
  await soon(async () => assert.match(await page.locator("#about").innerText(), /210 rows in the map$/));
  await page.locator("#golive").click();
  await page.locator("#about", { hasText: "240 rows, version 2" }).waitFor();
  await other.getByRole("button", { name: "Go back to version 1" }).click();
  assert.match(await told(other, "map-updated", "went back"), /The map went back to version 1/);
  for (const each of [page, other]) {
    await each.locator("#about", { hasText: "210 rows in the map" }).waitFor();
    await still(each);
    await soon(async () => assert.deepEqual(await classes(each), ["a", "b", "c"]));
  }
  await world.shot(other, "update-reverted-light");
  // Whoever opens it now finds it so, and the history whole.
  const late = await world.open(t);
  await soon(async () => assert.deepEqual(await classes(late), ["a", "b", "c"]));
  const { switches } = await world.get("/api/map/versions");
  await seek(late, switches.at(-1).event - 1);
  await late.locator("#about", { hasText: "version 2" }).waitFor();
});

test("clusters and groups are renamed by their names, for all and for good", async (t) => {
  const page = await world.open(t);
  await gather(page);
  await pause(1200);
  // By the name on the map.
  const at = await page.evaluate(() => {
    const { left, top } = window.lion.stage.root.getBoundingClientRect();
    const { x, y } = window.lion.look.centre("b");
    const place = window.lion.stage.camera.toScreen(x, y);
    return { x: left + place.x, y: top + place.y };
  });
  await page.mouse.click(at.x, at.y);
  const form = page.locator("form.rename");
  await form.getByLabel("Title").fill("Old oaks");
  await form.getByLabel("Your name").fill("anna");
  await world.shot(page, "rename-light");
  await form.getByRole("button", { name: "Save" }).click();
  assert.match(await told(page, "renamed"), /b was renamed to Old oaks by anna/);
  await form.waitFor({ state: "hidden" });
  await soon(async () => assert.deepEqual(await classes(page), ["a", "Old oaks", "c"]));
  // By the pencil in the legend.
  await page.locator("#legend li", { hasText: /^c/ }).first().hover();
  await page.getByRole("button", { name: "Rename c" }).click();
  await form.getByLabel("Title").fill("Cedars");
  await page.keyboard.press("Enter");
  await page.locator("#legend .class", { hasText: "Cedars" }).waitFor();
  // A group, by its callout; it keeps the title when it becomes a cluster's neighbour in time.
  const group = await page.evaluate(() => {
    const { left, top } = window.lion.stage.root.getBoundingClientRect();
    const { rect } = window.lion.stage.overlay.targets.callouts[0];
    return { x: left + rect.x + rect.width / 2, y: top + rect.y + rect.height / 2 };
  });
  await page.mouse.click(group.x, group.y);
  await form.getByLabel("Title").fill("Strangers");
  await page.keyboard.press("Enter");
  await page.locator("#alarms .alarm.forming", { hasText: /^Strangers is forming: 30 outliers/ }).waitFor();
  // Others see it, and so does who comes later; in the past it had its old name.
  const late = await world.open(t, { dark: true });
  await late.locator("#legend .class", { hasText: "Old oaks" }).waitFor();
  await late.locator("#alarms .alarm.forming", { hasText: "Strangers" }).waitFor();
  await world.shot(late, "renamed-dark");
  await seek(late, 20);
  await late.waitForFunction(() => window.lion.state.last === 20);
  await pause(300);
  await soon(async () => assert.deepEqual(await classes(late), ["a", "b", "c"]));
});

test("a notice is acknowledged and dismissed, with who and when", async (t) => {
  const page = await world.open(t);
  await page.evaluate(() => localStorage.setItem("lion-who", "anna"));
  await gather(page);
  const alarm = page.locator("#alarms .alarm.forming");
  await alarm.getByRole("button", { name: "Acknowledge" }).click();
  await alarm.locator("small", { hasText: /Acknowledged by anna at \d\d:\d\d:\d\d/ }).waitFor();
  assert.match(await told(page, "notice"), /The notice of a new cluster was acknowledged by anna/);
  await world.shot(page, "acknowledged-light");
  await alarm.getByRole("button", { name: "Dismiss" }).click();
  await alarm.waitFor({ state: "detached" });
  await page.waitForFunction(() => !/forming/.test(document.querySelector("#status").textContent));
  // So it is for all.
  const other = await world.open(t);
  await other.locator("#alarms button.dismissed", { hasText: "Show 1 dismissed notice" }).click();
  await other.locator("#alarms .alarm.forming small", { hasText: "Dismissed by anna" }).waitFor();
  await other.locator("#alarms .alarm.forming").getByRole("button", { name: "Reopen" }).click();
  await page.locator("#alarms .alarm.forming").waitFor();
});

test("an update can be watched and cancelled, and what is refused is said", async (t) => {
  // Large enough that it takes a moment.
  const large = new World();
  t.after(() => large.end());
  large.fit(makeTable(1500), ["--perplexity", "30", "--iterations", "150"]);
  await large.serve();
  await large.launch();
  const page = await large.open(t, { expected: /422|Failed to load/ });
  // Nothing to take in: there is no live point.
  await page.evaluate(() => window.lion.updates.take(null));
  await page.locator("#update.failed p", { hasText: /That was refused: .+/ }).waitFor();
  for (let k = 0; k < 30; k++) await large.post([{ id: `kin-${k}`, x: stranger(1, k) }]);
  await page.getByRole("button", { name: "Take it into the map" }).click();
  const panel = page.locator("#update");
  await panel.locator("p", { hasText: /Updating the map with 30 points: [a-z ]+, \d+ %/ }).waitFor();
  // One at a time.
  await page.getByRole("button", { name: "Take it into the map" }).waitFor({ state: "detached" });
  await panel.getByRole("button", { name: "Cancel" }).click();
  await panel.locator("p", { hasText: "The update was cancelled. The map is as it was." }).waitFor();
  assert.equal((await large.get("/api/map")).version, 1);
  await page.getByRole("button", { name: "Take it into the map" }).waitFor();
});

test("a page that was away while the map was updated finds the way", async (t) => {
  const page = await world.open(t, { expected: /ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|Failed to load/ });
  await gather(page);
  await world.kill();
  t.after(() => world.serve());
  await page.locator("#banner").waitFor();
  await world.serve();
  const answer = await fetch(`${world.url}/api/map/update`, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  assert.equal(answer.status, 202);
  await page.locator("#about", { hasText: "version 2" }).waitFor({ timeout: 20_000 });
  await still(page);
  const live = await world.get("/api/live");
  const here = await page.evaluate(() => [...window.lion.state.points.values()].map(({ id, x, y }) => [id, x, y]));
  assert.deepEqual(here.sort(), live.points.id.map((id, k) => [id, live.points.x[k], live.points.y[k]]).sort());
});

test("on a phone and in the dark, an update can be followed", async (t) => {
  const page = await world.open(t, { width: 390, height: 844, dark: true });
  await gather(page);
  await soon(async () => assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390));
  await page.locator("#alarms .alarm.forming").scrollIntoViewIfNeeded();
  await world.shot(page, "update-phone-alarms");
  await page.getByRole("button", { name: "Take it into the map" }).click();
  await page.locator("#about", { hasText: "version 2" }).waitFor();
  await still(page);
  await page.evaluate(() => window.scrollTo(0, 0));
  await pause(300);
  await world.shot(page, "update-phone-dark");
  await soon(async () => assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390));
});
