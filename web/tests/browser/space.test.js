// A map in space: it can be turned. See harness.js for what this needs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { COLOURS, dice, makeTable, pause, settle, soon, stranger, where, worldOf } from "./harness.js";

// The classes a and b differ in z alone.
const rows = makeTable(80).map((row) => ({ ...row, label: row.label.charCodeAt(0) - 97 }));
const MIDDLES = [[0, 0, 20], [0, 0, -20], [24, 0, 0]];
const world = worldOf((made) => {
  const normal = dice(5);
  made.adopt(rows, rows.map(({ label }) => MIDDLES[label].map((at) => at + 3 * normal())));
});

const alike = (id, label) => ({ id, x: rows.find((row) => row.label === label).x });
const apart = (p, q) => Math.hypot(p.x - q.x, p.y - q.y);

async function drag(page, dx, dy, button = "left") {
  const stage = await page.locator("#stage").boundingBox();
  const [x, y] = [stage.x + stage.width / 2, stage.y + 30];
  await page.mouse.move(x, y);
  await page.mouse.down({ button });
  for (let k = 1; k <= 10; k++) await page.mouse.move(x + (dx * k) / 10, y + (dy * k) / 10);
  await page.mouse.up({ button });
  await page.mouse.move(640, 5);
  await pause(300);
}

/** Turns until the map is seen along z: then a and b lie upon each other. */
const alongZ = (page) => page.evaluate(() => {
  window.lion.stage.camera.turn.set(0, 0);
  window.lion.stage.view();
});

for (const webgl of [true, false]) {
  test(`a map in space is turned by dragging${webgl ? "" : ", without WebGL too"}`, async (t) => {
    const page = await world.open(t, { webgl });
    await world.post([alike("over", 0), alike("under", 1), ...[1, 2, 3].map((k) => ({ id: `odd-${k}`, x: stranger(k, 1) }))]);
    await page.waitForFunction(() => window.lion.where("odd-3"));
    await pause(1500);
    const start = [await where(page, "over"), await where(page, "under")];
    assert.ok(apart(...start) > 80, "from the start both are seen");
    await world.shot(page, `space-light${webgl ? "" : "-plain"}`);
    const pixels = await world.pixels(page);
    for (const label of ["a", "b", "c"]) assert.ok(pixels.like(COLOURS[label]) > 150, `class ${label}: ${pixels.like(COLOURS[label])} pixels`);
    await page.locator("#turn-hint", { hasText: "Drag to turn" }).waitFor();

    await alongZ(page);
    await settle(page);
    await soon(async () => assert.ok(apart(await where(page, "over"), await where(page, "under")) < 40, "along z one lies upon the other"));
    await drag(page, 200, 0);
    const turned = [await where(page, "over"), await where(page, "under")];
    assert.ok(apart(...turned) > 100, "turned, both are seen");
    await page.locator("#turn-hint").waitFor({ state: "hidden" });
    // What is under the pointer is what is seen there.
    await page.mouse.move(turned[1].x, turned[1].y);
    await page.locator("#card b", { hasText: /^under$/ }).waitFor();
    await page.mouse.move(640, 5);

    await drag(page, 50, 20, "right");
    const moved = await where(page, "under");
    assert.ok(Math.abs(moved.x - turned[1].x - 50) < 2 && Math.abs(moved.y - turned[1].y - 20) < 2, "the right button moves");
    await page.locator("#turn").click();
    await drag(page, 40, 0);
    await soon(async () => assert.ok(Math.abs((await where(page, "under")).x - moved.x - 40) < 2, "with the tool off, a drag moves"));
    await page.keyboard.press("r");
    await page.keyboard.press("0");
    await pause(1000);
    await soon(async () => assert.ok(apart(await where(page, "over"), start[0]) < 2, "the whole map, as at the start"));
  });
}

test("outliers in space are legible, the axes are named, and a lasso takes what is seen", async (t) => {
  const page = await world.open(t, { dark: true });
  await page.waitForFunction(() => window.lion.where("odd-3"));
  await pause(300);
  for (const k of [1, 2, 3]) {
    const pixels = await world.pixels(page, await where(page, `odd-${k}`), 12);
    assert.ok(pixels.like(COLOURS.outlier, [16, 19, 22]) > 50, `odd-${k}: ${pixels.like(COLOURS.outlier, [16, 19, 22])} pixels`);
  }
  const stage = await page.locator("#stage").boundingBox();
  const cross = await world.pixels(page, { x: stage.x + 46, y: stage.y + stage.height - 46 }, 40);
  assert.ok(cross.count(([r, g, b]) => Math.min(r, g, b) > 120) > 60, "the axis cross");
  await drag(page, 120, 60);
  const at = await where(page, "over");
  await page.keyboard.press("l");
  await page.mouse.move(at.x + 30, at.y);
  await page.mouse.down();
  for (let k = 1; k <= 20; k++) await page.mouse.move(at.x + 30 * Math.cos(k * 0.314), at.y + 30 * Math.sin(k * 0.314));
  await page.mouse.up();
  const [ids, labels] = await page.evaluate(() => [[...window.lion.selection.ids], window.lion.selection.rows.map((row) => window.lion.look.clusterOfRow(row))]);
  assert.ok(ids.includes("over"), ids.join());
  assert.ok(labels.length > 0 && labels.every((label) => label === "0"), labels.join());
  await world.shot(page, "space-dark");
});

test("stretches of time compared in space name clusters and shade nothing", async (t) => {
  const some = (name, labels) => rows.filter(({ label }) => labels.includes(label)).slice(0, 60).map(({ x }, k) => ({ id: `${name}-${k}`, x }));
  const page = await world.open(t, { still: true });
  await world.post(some("first", [0, 1]));
  await pause(30);
  await world.post(some("second", [0, 2]));
  await page.waitForFunction(() => window.lion.where("second-59"));
  await page.locator("#compare-button").click();
  await page.locator("#compare .changes").waitFor();
  await soon(async () => assert.equal(await page.evaluate(() => window.lion.stage.scene.compared.shading), null));
  await soon(async () => assert.match(await page.locator("#shading").innerText(), /A map in space is not shaded/));
  const changes = (await page.locator("#compare .changes li").allInnerTexts()).map((text) => text.replaceAll("\n", " "));
  assert.ok(changes.some((text) => text.startsWith("▲ Cluster 2 ")), changes.join("\n"));
  await world.shot(page, "space-compare-light");
});
