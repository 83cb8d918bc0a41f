// Opens the pages in which one map becomes another in a real browser, offline, and uses them as a person would. How to run it
// is written in page.test.js.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, settle, shot } from "./harness.js";

const stage = async (page) => {
  await settle(page);
  return (await page.locator("#stage").screenshot()).toString("base64");
};
const slide = (page, value) => page.locator("#time").evaluate((slider, value) => {
  slider.value = value;
  slider.dispatchEvent(new Event("input"));
}, value);
const phase = (page) => page.locator("#phase").textContent();

for (const webgl of [true, false]) {
  test(`the slider goes from one map to the other ${webgl ? "with" : "without"} WebGL`, async (t) => {
    const page = await open(t, "morph", { webgl });
    assert.equal(await phase(page), "monday");
    const first = await stage(page);
    await shot(page, `morph-first-${webgl}`);
    await slide(page, 300);
    assert.equal(await phase(page), "monday, aligned");
    const aligned = await stage(page);
    await slide(page, 650);
    assert.match(await phase(page), /% of the way to tuesday/);
    await shot(page, `morph-between-${webgl}`);
    await slide(page, 1000);
    assert.equal(await phase(page), "tuesday");
    const second = await stage(page);
    await shot(page, `morph-second-${webgl}`);
    assert.equal(new Set([first, aligned, second]).size, 3);
    await page.click("#first");
    assert.equal(await stage(page), first);
  });
}

test("play goes to the end, pauses and comes back", async (t) => {
  const page = await open(t, "morph");
  await page.click("#play");
  await page.waitForFunction(() => document.getElementById("time").value > 100);
  assert.equal(await page.textContent("#play"), "Pause");
  await page.click("#play");
  const paused = await page.inputValue("#time");
  await settle(page);
  assert.equal(await page.inputValue("#time"), paused);
  await page.locator("#over").press(" ");
  // The slider rounds, so the button tells the end.
  await page.waitForFunction(() => document.getElementById("play").textContent === "Play back", null, { timeout: 60_000 });
  assert.equal(await page.inputValue("#time"), "1000");
});

test("whoever prefers less motion sees the other map at once", async (t) => {
  const page = await open(t, "morph", { still: true });
  await page.click("#play");
  assert.equal(await page.inputValue("#time"), "1000");
  await page.click("#play");
  assert.equal(await page.inputValue("#time"), "0");
});

test("a row is found by its id and tells what it did", async (t) => {
  const page = await open(t, "morph");
  await page.fill("#query", "row-01200");
  await page.press("#query", "Enter");
  await settle(page);
  assert.equal(await page.textContent("#tip b"), "row-01200");
  assert.match(await page.textContent("#tip small"), /^moved 0\.\d+ map radii · neighbour overlap 0\.80/);
  await page.fill("#query", "row-00003");
  assert.match(await page.textContent("#tip small"), /^only in monday/);
});

test("a change in the list leaves its rows alone in colour", async (t) => {
  const page = await open(t, "morph");
  assert.deepEqual(await page.locator("#changes h2").allTextContents(), ["Born", "Split", "Moved"]);
  const before = await stage(page);
  const button = page.locator(".change").nth(1);
  await button.click();
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  const chosen = await stage(page);
  assert.notEqual(chosen, before);
  await slide(page, 700);
  await shot(page, "morph-chosen");
  await slide(page, 0);
  await button.click();
  assert.equal(await stage(page), before);
  await page.check("#movers");
  assert.notEqual(await stage(page), before);
});

test("what only the second map has is shown there", async (t) => {
  const page = await open(t, "morph", { still: true });
  await page.locator(".change").first().click();
  assert.equal(await page.inputValue("#time"), "1000");
  await page.locator(".change").first().click();
  assert.equal(await page.inputValue("#time"), "1000");
});

test("the legend hides a class", async (t) => {
  const page = await open(t, "morph");
  const before = await stage(page);
  await page.locator(".class").first().click();
  assert.notEqual(await stage(page), before);
});

test("a map in space becomes another", async (t) => {
  const page = await open(t, "morph-space", { dark: true });
  const first = await stage(page);
  await slide(page, 800);
  await shot(page, "morph-space");
  assert.notEqual(await stage(page), first);
});

test("60000 rows move without waiting", async (t) => {
  const page = await open(t, "morph-large");
  await slide(page, 650);
  await shot(page, "morph-large");
  // The work of one frame, without the painting, which a graphics card does elsewhere.
  const time = await page.evaluate(() => {
    const slider = document.getElementById("time");
    const begun = performance.now();
    for (let step = 0; step < 20; step++) {
      slider.value = 300 + 30 * step;
      slider.dispatchEvent(new Event("input"));
    }
    return (performance.now() - begun) / 20;
  });
  assert.ok(time < 100, `${time} ms`);
});

test("a phone shows all of it", async (t) => {
  const page = await open(t, "morph", { viewport: { width: 390, height: 780 } });
  await slide(page, 650);
  await shot(page, "morph-phone");
  for (const id of ["play", "time", "stage", "query"]) assert.ok(await page.locator(`#${id}`).isVisible(), id);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${wide}`);
  const tall = (await page.locator("#stage").boundingBox()).height;
  assert.ok(tall > 200, `${tall}`);
});

test("hostile names are only names", async (t) => {
  const page = await open(t, "morph-hostile");
  await slide(page, 500);
  assert.ok((await page.textContent("h1")).startsWith("morph-hostile"));
  await page.fill("#query", "row-00100");
  assert.ok((await page.locator("#changes img").count()) === 0);
});

test("rows that only the second map has are ringed at its end", async (t) => {
  const page = await open(t, "morph");
  assert.ok(await page.locator("#news").isVisible());
  const first = await stage(page);
  await page.locator("#rings").uncheck();
  assert.equal(await stage(page), first, "no ring before they arrive");
  await page.locator("#rings").check();
  await page.locator("#second").click();
  const ringed = await stage(page);
  await shot(page, "morph-rings");
  await page.locator("#rings").uncheck();
  assert.notEqual(await stage(page), ringed);
});
