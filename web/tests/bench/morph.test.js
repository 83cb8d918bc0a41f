// How soon 60000 rows are on the screen, and frames of their morph, as a table: `cargo xtask bench morph`. The browser has no graphics card here: what
// draws is a program on the processor. Without its drawing, what is left is what the page itself does.

import assert from "node:assert/strict";
import { test } from "node:test";
import { settle, worldOf } from "../browser/harness.js";
import { makeLarge, morph, painted } from "../browser/large.js";

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const world = worldOf(makeLarge);

const sorted = (list) => list.toSorted((p, q) => p - q);
const median = (list) => sorted(list)[list.length >> 1];
const most = (list) => Math.max(0, ...list);

async function rounds(t, draws) {
  const page = await world.open(t);
  if (!draws) await page.evaluate(() => {
    WebGL2RenderingContext.prototype.drawArrays = () => {};
  });
  await settle(page);
  await page.waitForTimeout(1500);
  const all = [];
  for (let round = 0; round < ROUNDS; round++) {
    all.push(await morph(page));
    await page.waitForTimeout(1000);
  }
  return all;
}

test("60000 rows are painted within two seconds", async (t) => {
  for (let round = 0; round < ROUNDS; round++) {
    const page = await world.open(t);
    const milliseconds = await painted(page);
    t.diagnostic(`painted after ${Math.round(milliseconds)} ms`);
    assert.ok(milliseconds < 2000, `painted after ${milliseconds} ms`);
    await page.close();
  }
});

test("60000 rows become another version of the map", async (t) => {
  const lines = ["", "| 60000 rows, 2 s | frames | over 50 ms | median | longest | script of a frame: median | most | tasks over 50 ms |", "|---|---|---|---|---|---|---|---|"];
  for (const [what, draws] of [["drawn by SwiftShader", true], ["not drawn", false]]) {
    for (const { frames, scripts, tasks } of await rounds(t, draws)) {
      const over = frames.filter((milliseconds) => milliseconds > 50).length;
      lines.push(`| ${what} | ${frames.length} | ${over} | ${median(frames).toFixed(1)} ms | ${most(frames).toFixed(1)} ms | ${median(scripts).toFixed(1)} ms | ${most(scripts).toFixed(1)} ms | ${tasks.length} |`);
    }
  }
  console.log(lines.join("\n"));
});
