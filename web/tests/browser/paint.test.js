// How soon a map of 60000 rows is on the screen, and that it stays smooth. See harness.js for what this needs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { COLOURS, dice, npy, settle, World } from "./harness.js";

const ROWS = 60_000;
const DIMS = 4;

let world;
before(async () => {
  world = new World();
  const normal = dice(3);
  const [rows, places] = [[], []];
  for (let row = 0; row < ROWS; row++) {
    const label = row % 10;
    rows.push({ label, x: Array.from({ length: DIMS }, (_, d) => ((label >> d) & 1) * 30 + normal()) });
    places.push([40 * Math.cos(label * 0.628) + 5 * normal(), 40 * Math.sin(label * 0.628) + 5 * normal()]);
  }
  world.adopt(rows, places);
  await world.serve();
  await world.launch();
});
after(() => world?.end());

test("60000 rows are painted within two seconds", async (t) => {
  const page = await world.open(t);
  // A machine that does other things at the time may need a second try.
  let painted = Infinity;
  for (let k = 0; k < 3 && painted >= 2000; k++) {
    if (k > 0) await page.reload();
    await page.waitForFunction(() => performance.getEntriesByName("lion-painted").length > 0);
    painted = await page.evaluate(() => performance.getEntriesByName("lion-painted")[0].startTime);
    t.diagnostic(`painted after ${Math.round(painted)} ms`);
  }
  assert.ok(painted < 2000, `painted after ${painted} ms`);
  await page.waitForTimeout(1500);
  const pixels = await world.pixels(page);
  for (const label of ["a", "b", "c"]) assert.ok(pixels.like(COLOURS[label]) > 1000, `class ${label}`);
  await world.shot(page, "large-light");
});

test("60000 rows are moved and zoomed smoothly", async (t) => {
  const page = await world.open(t);
  const stage = await page.locator("#stage").boundingBox();
  await page.evaluate(() => {
    window.frames_ = [];
    let last = performance.now();
    const frame = (now) => {
      window.frames_.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  await page.mouse.move(stage.x + 300, stage.y + 300);
  await page.mouse.down();
  for (let k = 0; k < 40; k++) await page.mouse.move(stage.x + 300 + 80 * Math.sin(k / 5), stage.y + 300 + 50 * Math.cos(k / 5));
  await page.mouse.up();
  for (let k = 0; k < 20; k++) await page.mouse.wheel(0, k < 10 ? -80 : 80);
  await settle(page);
  const frames = (await page.evaluate(() => window.frames_)).sort((p, q) => p - q);
  const median = frames[frames.length >> 1];
  t.diagnostic(`${frames.length} frames, the middle one after ${median.toFixed(1)} ms`);
  assert.ok(median < 100, `a frame takes ${median} ms without a graphics card`);
});

test("60000 rows morph smoothly", async (t) => {
  const page = await world.open(t);
  await settle(page);
  // Another version of the same map: larger, turned a little, and with every row moved.
  const frames = await page.evaluate(() => new Promise((done) => {
    const { lion } = window;
    const { info, columns } = lion.shown;
    const other = { info: { ...info, bounds: info.bounds.map((side) => 1.3 * side) }, columns: { ...columns } };
    other.columns.x = columns.x.map((x, row) => 1.2 * x - 0.3 * columns.y[row] + Math.sin(row));
    other.columns.y = columns.y.map((y, row) => 1.2 * y + 0.3 * columns.x[row] + Math.cos(row));
    const list = [];
    let last = performance.now();
    let over = false;
    const frame = (now) => {
      list.push(now - last);
      last = now;
      if (over) done(list);
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    const before = lion.versions.show(other);
    lion.renew(before, new Map(), 2).then(() => { over = true; });
  }));
  const long = frames.filter((milliseconds) => milliseconds > 50);
  t.diagnostic(`${frames.length} frames, ${long.length} longer than 50 ms, the longest ${Math.max(...frames).toFixed(0)} ms`);
  // A machine that does other things at the time drops some.
  const median = frames.sort((p, q) => p - q)[frames.length >> 1];
  assert.ok(frames.length > 10 && median < 100, `${frames.length} frames, the middle one after ${median} ms`);
});

test("what is sent to the browser is small", () => {
  const dist = process.env.DIST ?? join(process.env.WEB, "dist");
  const bytes = ["index.html", "app.js", "app.css"].reduce((sum, name) => sum + gzipSync(readFileSync(join(dist, name))).length, 0);
  assert.ok(bytes < 72_000, `${bytes} bytes gzipped`);
});
