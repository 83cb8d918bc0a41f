// How soon a map of 60000 rows is on the screen, and that it stays smooth. See harness.js for what this needs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { COLOURS, settle, worldOf } from "./harness.js";
import { makeLarge, morph, painted } from "./large.js";

const world = worldOf(makeLarge);

test("60000 rows are painted", async (t) => {
  const page = await world.open(t);
  const milliseconds = await painted(page);
  t.diagnostic(`painted after ${Math.round(milliseconds)} ms`);
  // Generous, because tests run beside others: `cargo xtask bench morph` is strict.
  assert.ok(milliseconds < 20_000, `painted after ${milliseconds} ms`);
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
  assert.ok(median < 500, `a frame takes ${median} ms without a graphics card`);
});

test("60000 rows morph smoothly", async (t) => {
  const page = await world.open(t);
  await settle(page);
  const { frames, scripts } = await morph(page);
  const long = frames.filter((milliseconds) => milliseconds > 50);
  const median = (list) => list.toSorted((p, q) => p - q)[list.length >> 1];
  t.diagnostic(`${frames.length} frames, ${long.length} longer than 50 ms, the longest ${Math.max(...frames).toFixed(0)} ms; scripts: median ${median(scripts).toFixed(1)}, most ${Math.max(...scripts).toFixed(0)} ms`);
  assert.ok(frames.length > 10 && median(frames) < 500, `${frames.length} frames, the middle one after ${median(frames)} ms`);
});

test("what is sent to the browser is small", () => {
  const dist = process.env.DIST ?? join(process.env.WEB, "dist");
  const bytes = ["index.html", "app.js", "app.css"].reduce((sum, name) => sum + gzipSync(readFileSync(join(dist, name))).length, 0);
  assert.ok(bytes < 72_000, `${bytes} bytes gzipped`);
});
