// A map with more clusters than colours: the overview takes them together, on the map, in its colours and in the legend.

import assert from "node:assert/strict";
import { test } from "node:test";
import { dice, soon, told, worldOf } from "./harness.js";

const [REGIONS, PARTS, ROWS, DIMS] = [10, 4, 50, 12];
const rows = [];
const world = worldOf((made) => {
  const normal = dice(5);
  const places = [];
  for (let row = 0; row < REGIONS * PARTS * ROWS; row++) {
    const [region, part] = [row % REGIONS, Math.floor(row / REGIONS) % PARTS];
    rows.push({ x: Array.from({ length: DIMS }, (_, d) => (d === region ? 20 : 0) + (d === 10 ? 8 * (part & 1) : d === 11 ? 4 * (part & 2) : 0) + 0.3 * normal()) });
    const angle = (2 * Math.PI * region) / REGIONS;
    places.push([60 * Math.cos(angle) + 9 * (part & 1) + 0.8 * normal(), 60 * Math.sin(angle) + 4.5 * (part & 2) + 0.8 * normal()]);
  }
  made.adopt(rows, places);
});

const top = "#legend .merged > li";

test("every cluster has a colour, and the legend opens to show what a name on the map takes together", async (t) => {
  const page = await world.open(t);
  const known = (await world.get("/api/map")).clusters.length;
  assert.ok(known > 25, `${known} clusters`);
  await page.locator(top).first().waitFor();
  const first = await page.locator(`${top} > .class:visible`).count();
  assert.ok(first > 1 && first <= 20, `${first} names at once`);
  const colours = await page.locator(`${top} > .class:visible i`).evaluateAll((all) => all.map(({ style }) => style.background));
  assert.equal(new Set(colours).size, first, "each its own colour");
  const parts = page.locator("#legend .parts .class");
  await soon(async () => assert.equal(await parts.filter({ visible: true }).count(), 0));
  const one = page.locator(top).filter({ has: page.locator(".opener") }).first();
  await one.locator(".opener").click();
  await soon(async () => assert.ok((await parts.filter({ visible: true }).count()) > 1));
  const shown = await parts.filter({ visible: true }).count();
  const [whole, ...inside] = await one.locator(".class i").evaluateAll((all) => all.map(({ style }) => style.background));
  assert.ok(inside.length === shown && inside.every((colour) => colour === whole), "parts have the colour of the whole");
  // One switch hides and shows them all, and says when it is some of them.
  const pressed = () => one.locator(".class").evaluateAll((all) => all.map((made) => made.getAttribute("aria-pressed")));
  await one.locator("> .class").click();
  await soon(async () => assert.deepEqual(new Set(await pressed()), new Set(["false"])));
  await parts.filter({ visible: true }).first().click();
  await soon(async () => assert.equal((await pressed())[0], "mixed"));
  await page.getByRole("button", { name: "Show all" }).click();
  await soon(async () => assert.deepEqual(new Set(await pressed()), new Set(["true"])));
  await world.shot(page, "overview-light");
});

for (const [name, width, height] of [["desktop", 1280, 720], ["phone", 390, 780]]) {
  test(`a line of the feed shows its cluster in the legend, ${name}`, async (t) => {
    const page = await world.open(t, { width, height, dark: true });
    await page.locator(top).first().waitFor();
    await world.post([{ id: `guest-${name}`, x: rows[7].x.map((value) => value + 0.01) }]);
    const words = await told(page, "appeared", `guest-${name}`);
    await page.locator("#feed .item", { hasText: `guest-${name}` }).first().click();
    const marked = page.locator("#legend .class.told");
    await soon(async () => assert.match(words, new RegExp(`landed in (cluster )?${await marked.locator("span").innerText()}\\b`)));
    await soon(async () => assert.match(await marked.locator("small").innerText(), /^\d+$/));
    await soon(async () => {
      const [legend, line] = [await page.locator("#legend").boundingBox(), await marked.boundingBox()];
      assert.ok(line.y >= legend.y && line.y + line.height <= legend.y + legend.height + 1, "in view");
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${wide} pixels wide`);
    });
    await page.mouse.move(width / 2, 5);
    await world.shot(page, `overview-dark-${name}`);
  });
}

test("thousands of selected points are marked by dots, each of them, and not by rings", async (t) => {
  const many = 3200;
  await world.post(Array.from({ length: many }, (_, k) => ({ id: `live-${k}`, x: rows[k % rows.length].x.map((value) => value + 0.001) })));
  const page = await world.open(t, { still: true });
  await page.evaluate(() => {
    window.drawn = { arc: 0, fillRect: 0 };
    for (const name of ["arc", "fillRect"]) {
      const real = CanvasRenderingContext2D.prototype[name];
      CanvasRenderingContext2D.prototype[name] = function (...args) {
        window.drawn[name]++;
        return real.apply(this, args);
      };
    }
  });
  const box = await page.locator("#stage").boundingBox();
  await page.keyboard.press("l");
  await page.mouse.move(box.x + 3, box.y + 3);
  await page.mouse.down();
  for (const [x, y] of [[1, 0], [1, 1], [0, 1], [0, 0]]) await page.mouse.move(box.x + 3 + x * (box.width - 6), box.y + 3 + y * (box.height - 6), { steps: 4 });
  await page.mouse.up();
  await page.locator("#selection b", { hasText: /^3,2\d\d live/ }).waitFor();
  await soon(async () => assert.ok((await page.evaluate(() => window.drawn)).fillRect >= many));
  const { arc } = await page.evaluate(() => window.drawn);
  assert.ok(arc < 500, `${arc} rings`);
  await page.mouse.move(640, 5);
  await world.shot(page, "overview-selected");
});
