// Two stretches of time are compared. See harness.js for what this needs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { like, makeTable, pause, QUICK, soon, stranger, worldOf } from "./harness.js";

const rows = makeTable(70);
const of = (label, many) => rows.filter((row) => row.label === label).slice(0, many);

const world = worldOf((made) => made.fit(rows, QUICK), { anew: true });

/** First rows like a and b, then like a and c with outliers; two of the first leave. */
async function change() {
  for (const [name, other] of [["early", "b"], ["late", "c"]]) {
    const points = [...of("a", 30), ...of(other, 50)].map((row, k) => like(`${name}-${k}`, row));
    // A few at a time: what comes at once is never torn apart.
    for (let k = 0; k < 10; k++) await world.post(points.filter((_, at) => at % 10 === k));
  }
  await world.post([{ delete: "early-3" }, { delete: "early-40" }]);
  await world.post(Array.from({ length: 12 }, (_, k) => ({ id: `odd-${k}`, x: stranger(k % 5, k) })));
}

const start = async (page) => {
  await page.locator("#compare-button:not([disabled])").click();
  await page.locator("#compare .test").waitFor();
};
const sum = (page) => page.locator("#compare .sum").innerText();
const lines = async (page) => (await page.locator("#compare .changes li").allInnerTexts()).map((text) => text.replaceAll("\n", " "));
const handle = (page, name) => page.getByRole("slider", { name });
const at = async (page, name) => Number(await handle(page, name).getAttribute("aria-valuenow"));
const asked = (page) => page.waitForRequest((request) => request.url().includes("/api/compare"));
const shaded = (page) => page.evaluate(() => {
  const { shading } = window.lion.stage.scene.compared ?? {};
  return shading && { gained: shading.gained.shades.length, lost: shading.lost.shades.length };
});
/** Pixels of the map that a blue and an ochre shade made. */
const tints = async (page) => {
  const pixels = await world.pixels(page);
  return [pixels.count(([r, , b]) => b - r > 24), pixels.count(([r, , b]) => r - b > 24)];
};

test("what changed between two stretches is shaded, named and listed", async (t) => {
  const page = await world.open(t, { still: true });
  await soon(async () => assert.ok(await page.locator("#compare-button").isDisabled(), "there is nothing to compare yet"));
  await change();
  await page.waitForFunction(() => window.lion.where("odd-11"));
  await pause(1500);
  const clean = await tints(page);
  await page.keyboard.press("c");
  await page.locator("#compare .test").waitFor();
  const times = new URL(page.url()).hash.slice("#compare=".length).split(",");
  const said = await world.get(`/api/compare?a=${times.slice(0, 2)}&b=${times.slice(2)}`);
  const many = (change) => said.regions.filter((region) => region.change === change).length;
  assert.ok(many("gained") > 0 && many("lost") > 0, JSON.stringify(said.regions));
  await soon(async () => assert.equal(await sum(page), `Of ${said.regions.length} regions, ${many("gained")} gained and ${many("lost")} lost share beyond chance.`));
  await soon(async () => assert.deepEqual(await shaded(page), { gained: many("gained"), lost: many("lost") }));
  for (const place of ["#shading", "#compare .test"]) await soon(async () => assert.ok((await page.locator(place).innerText()).includes(said.test), "the test is named"));
  const found = await lines(page);
  assert.ok(found.some((text) => /^▼ b \d+ % → [\d.]+ % lost; by chance once in .+ comparisons$/.test(text)), found.join("\n"));
  assert.ok(found.some((text) => /^▲ c [\d.]+ % → \d+ % gained; by chance once in .+ comparisons$/.test(text)), found.join("\n"));
  assert.ok(found.some((text) => /^▲ Outliers 0 % → [\d.]+ % gained; by chance/.test(text)), found.join("\n"));
  const tinted = await tints(page);
  assert.ok(tinted.every((pixels, k) => pixels > clean[k] + 1000), `${clean} became ${tinted}`);
  await world.shot(page, "compare-light");
  // Life goes on, and what was said stays.
  await world.post([like("after", of("a", 1)[0])]);
  await page.waitForFunction(() => window.lion.where("after"));
  await soon(async () => assert.deepEqual(await shaded(page), { gained: many("gained"), lost: many("lost") }));
  await page.keyboard.press("Escape");
  await soon(async () => assert.equal(await shaded(page), undefined));
  await soon(async () => assert.ok(await page.locator("#shading").isHidden() && (await page.locator("#tab-compare").isHidden()) && (await page.locator("#bands").isHidden())));
  assert.equal(new URL(page.url()).hash, "");
  await pause(300);
  const left = await tints(page);
  assert.ok(left.every((pixels, k) => pixels < (clean[k] + tinted[k]) / 2), `the shades are gone: ${tinted} became ${left}, before it was ${clean}`);
});

test("newcomers and those who left are tables and a CSV, and a click leads to each", async (t) => {
  const page = await world.open(t, { still: true });
  await change();
  await start(page);
  const ids = (name) => page.locator(`#compare h2:has-text("${name}") + table td:first-child`).allInnerTexts();
  await soon(async () => assert.match(await page.locator("#compare h2").first().innerText(), /^Newcomers \(\d+\)/));
  await soon(async () => assert.ok((await ids("Newcomers")).includes("late-69")));
  await soon(async () => assert.deepEqual((await ids("Left")).sort(), ["early-3", "early-40"]));
  const scroll = () => page.locator("#compare").evaluate(({ scrollTop }) => scrollTop);
  await page.locator("#compare").evaluate((panel) => panel.scrollTo(0, 1e6));
  await page.locator("#compare table td button").last().scrollIntoViewIfNeeded();
  await page.getByRole("button", { name: "late-69", exact: true }).scrollIntoViewIfNeeded();
  const scrolled = await scroll();
  await page.getByRole("button", { name: "late-69", exact: true }).click();
  await page.locator("#card.pinned", { hasText: "late-69" }).waitFor();
  await soon(async () => assert.deepEqual(await page.evaluate(() => [...window.lion.selection.ids]), ["late-69"]));
  await soon(async () => assert.ok(await page.locator("#compare").isVisible(), "the table stays"));
  await soon(async () => assert.ok(scrolled > 0 && (await scroll()) === scrolled, "and does not jump"));
  await soon(async () => assert.equal(await page.evaluate(() => document.activeElement.textContent), "late-69"));
  await page.getByRole("button", { name: "early-40", exact: true }).click();
  await page.locator("#card.pinned", { hasText: "It was removed at" }).waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), page.locator("#compare .bar").getByRole("button", { name: "CSV" }).click()]);
  const table = readFileSync(await file.path(), "utf8").trim().split("\r\n");
  assert.equal(table[0], "change,id,label,cluster,verdict,x,y,t");
  assert.equal(table.filter((line) => line.startsWith("left,early-")).length, 2);
  assert.ok(table.some((line) => line.startsWith("newcomer,late-69,c,c,")));
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await soon(async () => assert.equal(await shaded(page), undefined));
});

test("the stretches are moved by pointer and by keys, and asked about when let go", async (t) => {
  const page = await world.open(t, { still: true });
  await change();
  await start(page);
  const [first, last] = await page.evaluate(() => window.lion.replay.range);
  await soon(async () => assert.deepEqual([await at(page, "Start of stretch A"), await at(page, "End of stretch B")], [first, last]));
  // An end stops at the other stretch.
  const box = await handle(page, "End of stretch A").boundingBox();
  const drag = async (dx) => {
    await page.mouse.move(box.x + 5, box.y + 8);
    await page.mouse.down();
    for (let k = 1; k <= 5; k++) await page.mouse.move(box.x + 5 + (dx * k) / 5, box.y + 8);
    await page.mouse.up();
  };
  const middle = await at(page, "Start of stretch B");
  await drag(120);
  await soon(async () => assert.equal(await at(page, "End of stretch A"), middle));
  const [request] = await Promise.all([asked(page), drag(-60)]);
  const end = await at(page, "End of stretch A");
  assert.ok(end < middle - 5 && end > first, `${end} of ${middle}`);
  const t1 = await page.evaluate((n) => window.lion.log.at(n + 1).t, end);
  assert.equal(new URL(request.url()).searchParams.get("a").split(",")[1], String(t1));
  // A band moves as a whole, before it is brought to where time goes on.
  const band = await page.locator(".band.b").boundingBox();
  const length = (await at(page, "End of stretch B")) - (await at(page, "Start of stretch B"));
  await page.mouse.move(band.x + 40, band.y + 8);
  await page.mouse.down();
  await page.mouse.move(band.x + 10, band.y + 8, { steps: 4 });
  await soon(async () => assert.ok((await at(page, "Start of stretch B")) < middle));
  await soon(async () => assert.equal((await at(page, "End of stretch B")) - (await at(page, "Start of stretch B")), length));
  await Promise.all([asked(page), page.mouse.up()]);
  // Keys: the map does not move, and the server is asked once.
  const view = await page.evaluate(() => window.lion.stage.camera.x);
  let questions = 0;
  page.on("request", (one) => { questions += one.url().includes("/api/compare") ? 1 : 0; });
  await handle(page, "Start of stretch A").focus();
  for (let k = 0; k < 2; k++) await page.keyboard.press("PageUp");
  await page.keyboard.press("ArrowLeft");
  await pause(1000);
  await soon(async () => assert.ok((await at(page, "Start of stretch A")) > first + 10));
  assert.equal(questions, 1);
  // One event of several that came at once is no stretch.
  await page.keyboard.press("End");
  await page.locator("#compare .sum.problem", { hasText: "came all at once" }).waitFor();
  await page.keyboard.press("Home");
  await soon(async () => assert.equal(await at(page, "Start of stretch A"), first));
  await page.locator("#compare .test").waitFor();
  await soon(async () => assert.equal(await page.evaluate(() => window.lion.stage.camera.x), view));
  await soon(async () => assert.match(await handle(page, "Start of stretch A").getAttribute("aria-valuetext"), /^\d\d:\d\d:\d\d$/));
  // Back with a preset; hours that the history has not are not offered.
  await soon(async () => assert.deepEqual(await page.locator("#compare .actions button").allInnerTexts(), ["Second half against the first"]));
  await page.getByRole("button", { name: "Second half against the first" }).click();
  await soon(async () => assert.deepEqual([await at(page, "Start of stretch A"), await at(page, "End of stretch B")], await page.evaluate(() => window.lion.replay.range)));
});

test("chance alone is said to be chance, and an address opens the same comparison", async (t) => {
  const page = await world.open(t, { still: true });
  const mix = (name) => [...of("a", 20), ...of("b", 20), ...of("c", 20)].map((row, k) => like(`${name}-${k}`, row));
  await world.post(mix("one"));
  await pause(30);
  await world.post(mix("two"));
  await start(page);
  await soon(async () => assert.equal(await sum(page), "No region gained or lost share beyond chance."));
  await soon(async () => assert.match(await page.locator("#shading").innerText(), /^No region gained or lost share beyond chance\./));
  await soon(async () => assert.match((await lines(page)).at(-1), /^No cluster gained or lost share beyond chance\.$/));
  await soon(async () => assert.deepEqual(await shaded(page), { gained: 0, lost: 0 }));
  const { hash } = new URL(page.url());
  const other = await world.open(t, { still: true, at: hash });
  await other.locator("#compare .test").waitFor();
  assert.equal(new URL(other.url()).hash, hash);
  for (const name of ["Start of stretch A", "End of stretch A", "Start of stretch B", "End of stretch B"]) await soon(async () => assert.equal(await at(other, name), await at(page, name), name));
});

test("what the server refuses is said as it says it", async (t) => {
  await world.post(of("a", 10).map((row, k) => like(`p-${k}`, row)));
  await pause(30);
  await world.post([{ delete: "p-1" }]);
  const { events } = await world.get("/api/history?after=0");
  const [begin, gone] = [events[0].t, events.at(-1).t];
  const page = await world.open(t, { still: true, at: `#compare=${begin},${gone},${gone},${gone + 1}`, expected: /422/ });
  const problem = page.locator("#compare .sum.problem");
  await problem.waitFor();
  await soon(async () => assert.match(await problem.innerText(), /^No point was given in b, from \d\d:\d\d:\d\d to \d\d:\d\d:\d\d: choose another stretch\.$/));
  await soon(async () => assert.equal(await page.locator("#shading").innerText(), await problem.innerText()));
  await world.shot(page, "compare-refused-light");
});

test("another version of the map ends the comparison, and a past one has none", async (t) => {
  const page = await world.open(t, { still: true });
  await change();
  await start(page);
  const answer = await fetch(`${world.url}/api/map/update`, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  assert.ok(answer.ok);
  await page.locator("#about", { hasText: "version 2" }).waitFor({ timeout: 30_000 });
  await page.locator("#note", { hasText: "the comparison was closed" }).waitFor();
  await soon(async () => assert.equal(await shaded(page), undefined));
  // Points of before count where they are on the new map.
  await start(page);
  await soon(async () => assert.ok((await lines(page)).some((text) => text.startsWith("▲ c "))));
  const first = await page.evaluate(() => window.lion.replay.range[0]);
  await page.locator("#slider").evaluate((input, value) => {
    input.value = String(value);
    input.dispatchEvent(new Event("input"));
  }, first + 20);
  await page.locator("#about", { hasText: "210 rows in the map" }).waitFor();
  await page.locator("#compare-button[disabled]").waitFor();
  await soon(async () => assert.equal(await shaded(page), undefined));
  await page.locator("#golive").click();
  await page.locator("#compare-button:not([disabled])").waitFor();
});

test("it looks right in the dark, and on a phone it is moved by touch", async (t) => {
  await change();
  const dark = await world.open(t, { dark: true });
  await start(dark);
  await pause(1500);
  await world.shot(dark, "compare-dark");
  const phone = await world.open(t, { width: 390, height: 844, touch: true, still: true });
  await phone.locator("#compare-button:not([disabled])").tap();
  await phone.locator("#shading small").waitFor();
  await pause(500);
  await soon(async () => assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out at the side"));
  const { x, y, height } = await handle(phone, "End of stretch B").boundingBox();
  assert.ok(height >= 24, "large enough for a finger");
  const touch = await phone.context().newCDPSession(phone);
  const send = (type, dx) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchEnd" ? [] : [{ x: x + 4 + dx, y: y + height / 2 }] });
  const before_ = await at(phone, "End of stretch B");
  const request = asked(phone);
  await send("touchStart", 0);
  for (let k = 1; k <= 8; k++) await send("touchMove", -10 * k);
  await send("touchEnd", 0);
  await request;
  await soon(async () => assert.ok((await at(phone, "End of stretch B")) < before_ - 20));
  await world.shot(phone, "compare-phone");
  await phone.locator("#compare .changes").scrollIntoViewIfNeeded();
  await world.shot(phone, "compare-phone-panel");
});
