// The dashboard as a person uses it, on the real server. See harness.js for what this needs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { COLOURS, like, makeTable, pause, QUICK, settle, soon, stranger, told, where, World, worldOf } from "./harness.js";

const rows = makeTable(70);
const byLabel = (label) => rows.filter((row) => row.label === label);
const [a, b, c] = ["a", "b", "c"].map(byLabel);

const world = worldOf((made) => made.fit(rows, [...QUICK, "--image", "4x2"]));

const status = (page, pattern) => page.waitForFunction(
  (source) => new RegExp(source).test(document.querySelector("#status").textContent), pattern.source, { timeout: 20_000 });

/** Waits until the page says so of itself: Live, Offline, Paused, Replaying. */
const pill = (page, text) => page.waitForFunction(
  (wanted) => document.querySelector("#pill").innerText === wanted, text, { timeout: 15_000 });

test("the map draws: each class in its colour, with its name in the legend", async (t) => {
  const page = await world.open(t);
  await status(page, /^0 points · no outliers · nothing unusual/);
  const pixels = await world.pixels(page);
  for (const label of ["a", "b", "c"]) assert.ok(pixels.like(COLOURS[label]) > 250, `${label}: ${pixels.like(COLOURS[label])} pixels`);
  assert.equal(pixels.like(COLOURS.outlier), 0);
  await soon(async () => assert.deepEqual(await page.locator("#legend .class:visible span").allInnerTexts(), ["a", "b", "c", "Base map", "Arrivals", "Outliers"]));
  // Hidden by its button, it is gone from the map.
  await page.locator("#legend .class", { hasText: "c" }).first().click();
  await page.mouse.move(640, 5);
  await soon(async () => assert.equal((await world.pixels(page)).like(COLOURS.c), 0));
  await page.getByRole("button", { name: "Show all" }).click();
  await page.mouse.move(640, 5);
  await soon(async () => assert.ok((await world.pixels(page)).like(COLOURS.c) > 250));
  await world.shot(page, "empty-light");
});

test("without WebGL the processor draws the same map", async (t) => {
  const page = await world.open(t, { webgl: false });
  const pixels = await world.pixels(page);
  for (const label of ["a", "b", "c"]) assert.ok(pixels.like(COLOURS[label]) > 250, `${label}: ${pixels.like(COLOURS[label])} pixels`);
  const [{ event }] = await world.post([like("plain", c[60])]);
  await told(page, "appeared", "plain");
  const dot = await world.pixels(page, await where(page, "plain"), 6);
  assert.ok(dot.like(COLOURS.c) > 12);
  await world.post([{ delete: "plain" }]);
  await page.waitForFunction((n) => window.lion.state.last > n, event);
  await soon(async () => assert.equal(await where(page, "plain"), null));
});

test("points posted over HTTP appear, in words and on the map", async (t) => {
  const page = await world.open(t);
  await world.post([like("first", a[0]), like("second", b[0])]);
  await status(page, /^2 points · no outliers/);
  assert.match(await told(page, "appeared", "first"), /first landed in a/);
  await pause(1500);
  for (const [id, colour] of [["first", COLOURS.a], ["second", COLOURS.b]]) {
    await soon(async () => {
      const pixels = await world.pixels(page, await where(page, id), 8);
      assert.ok(pixels.like(colour) > 20, `${id}: ${pixels.like(colour)} pixels`);
    });
  }
  const counts = () => page.locator("#legend .class small").allInnerTexts();
  await soon(async () => assert.deepEqual((await counts()).slice(0, 3), ["1", "1", ""]));
});

test("it stayed, it moved a little, it changed cluster", async (t) => {
  const page = await world.open(t);
  await world.post([like("walker", a[3])]);
  await told(page, "appeared", "walker");
  const home = await where(page, "walker");

  await pause(1500);
  const before = await world.pixels(page, home);
  await world.post([like("walker", a[3])]);
  assert.match(await told(page, "stayed", "walker"), /walker stayed in its place/);
  await soon(async () => assert.deepEqual(await where(page, "walker"), home));
  await pause(150);
  await soon(async () => assert.ok((await world.pixels(page, home)).changed(before) > 8, "it flares up in its place"));

  // The row of the same class whose place is nearest, but not the same.
  const places = await Promise.all(a.slice(0, 40).map(async (row) => world.get(`/api/map/rows/${row.id.slice(4)}`)));
  const apart = (row) => Math.hypot(row.x - places[3].x, row.y - places[3].y);
  const near = places.map((_, k) => k).filter((k) => apart(places[k]) > 0).sort((k, l) => apart(places[k]) - apart(places[l]))[2];
  await world.post([{ id: "walker", x: a[near].x, label: "a" }]);
  assert.match(await told(page, "moved", "walker"), /walker moved a little \([\d.]+\) within a/);

  const from = await where(page, "walker");
  const calm = await world.pixels(page);
  await world.post([{ id: "walker", x: c[2].x, label: "a" }]);
  assert.match(await told(page, "changed-cluster", "walker"), /walker changed from a to c/);
  const to = await where(page, "walker");
  assert.ok(Math.hypot(to.x - from.x, to.y - from.y) > 80, "it is far from where it was");
  await pause(1400);
  await soon(async () => assert.ok((await world.pixels(page)).changed(calm) > 200, "a trail leads there"));
  await world.shot(page, "trail-light");
});

test("it became an outlier: it has a ring, and returns", async (t) => {
  const page = await world.open(t);
  await world.post([like("lost", b[5])]);
  await told(page, "appeared", "lost");
  await world.post([{ id: "lost", x: stranger(0, 1) }]);
  assert.match(await told(page, "became-outlier", "lost"), /lost became an outlier, was in b/);
  await status(page, /1 outlier /);
  await pause(1600);
  await soon(async () => {
    const pixels = await world.pixels(page, await where(page, "lost"), 16);
    assert.ok(pixels.like(COLOURS.outlier) > 60, `${pixels.like(COLOURS.outlier)} pixels of warning`);
    assert.equal(ringed(pixels), true, "a ring around it");
  });
  await world.shot(page, "outlier-light");
  await world.post([like("lost", b[5])]);
  assert.match(await told(page, "returned", "lost"), /lost returned to b/);
  await status(page, /no outliers/);
});

/** Whether in nearly every direction from the middle there is a gap after the point, then a line of warning. */
function ringed(pixels) {
  const middle = (pixels.width - 1) / 2;
  const warm = (x, y) => {
    const [r, g, b] = pixels.at(Math.round(x), Math.round(y));
    return r > 200 && r - g > 60 && r - b > 60;
  };
  let directions = 0;
  for (let k = 0; k < 32; k++) {
    const angle = (k / 32) * 2 * Math.PI;
    let state = 0;
    for (let r = 0; r < middle; r += 0.5) {
      const is = warm(middle + r * Math.cos(angle), middle + r * Math.sin(angle));
      if (state === 0 && is) state = 1;
      else if (state === 1 && !is) state = 2;
      else if (state === 2 && is) state = 3;
    }
    directions += state === 3 ? 1 : 0;
  }
  return directions >= 26;
}

test("outliers gather into a new cluster: callout, banner, status and feed", async (t) => {
  const page = await world.open(t);
  const before = (await world.pixels(page)).like(COLOURS.outlier);
  for (let k = 0; k < 11; k++) await world.post([{ id: `kin-${k}`, x: stranger(1, k) }]);
  // A slow page tells of many at once; the last one comes alone.
  await page.waitForFunction(() => window.lion.where("kin-10"));
  await world.post([{ id: "kin-11", x: stranger(1, 11) }]);
  assert.match(await told(page, "joined-group", "kin-11"), /kin-11 joined other outliers \(12 now\)/);
  assert.match(await told(page, "forming"), /A new cluster is forming: \d+ outliers, most like [abc]/);
  await status(page, /\d+ outliers · .*a new cluster is forming, most like [abc]/);
  // The banner counts again with the next look at the server.
  await page.locator("#alarms .alarm.forming", { hasText: /A new cluster is forming: 12 outliers, most like [abc]/ }).waitFor();
  await soon(async () => assert.match(await page.locator("#said").textContent(), /a new cluster is forming/));
  await soon(async () => {
    const after = (await world.pixels(page)).like(COLOURS.outlier);
    assert.ok(after > before + 250, `${before} and then ${after} pixels of warning`);
  });
  await world.shot(page, "forming-light");
  // The banner leads there.
  const there = await where(page, "kin-0");
  await page.locator("#alarms .alarm.forming").click();
  const stage = await page.locator("#stage").boundingBox();
  await soon(async () => {
    const now = await where(page, "kin-0");
    assert.ok(Math.hypot(now.x - stage.x - stage.width / 2, now.y - stage.y - stage.height / 2) < 40, "in the middle");
    assert.notDeepEqual(now, there);
  });
});

test("a cluster is vanishing: it pales, and is called so", async (t) => {
  const page = await world.open(t);
  await world.post(Array.from({ length: 60 }, (_, k) => like(`leaver-${k}`, b[k])));
  await page.waitForFunction(() => window.lion.where("leaver-59"));
  await pause(300);
  const yellow = (await world.pixels(page)).like(COLOURS.b);
  await world.post(Array.from({ length: 58 }, (_, k) => ({ delete: `leaver-${k}` })));
  assert.match(await told(page, "vanishing"), /b is vanishing: \d+ of \d+ points left in it/i);
  await soon(async () => assert.match(await page.locator("#alarms .alarm.vanishing").innerText(), /b is vanishing/i));
  await status(page, /b is vanishing/);
  await soon(async () => {
    const pale = (await world.pixels(page)).like(COLOURS.b);
    assert.ok(pale < yellow / 2, `${yellow} and then ${pale} pixels of its colour`);
  });
  await world.shot(page, "vanishing-light");
});

test("the card shows who a point is, what it is most like, and its picture", async (t) => {
  const page = await world.open(t);
  await world.post([{ ...like("shown", c[30]), label: "c" }]);
  await told(page, "appeared", "shown");
  const { x, y } = await where(page, "shown");
  await page.mouse.move(x, y, { steps: 3 });
  const card = page.locator("#card");
  await card.waitFor();
  await card.locator("h3").waitFor();
  const text = await card.innerText();
  for (const word of [/shown/, /live point/, /exact/, /label\s+c/, /landed in\s+c/, /score/, /Most like it/]) assert.match(text, word);
  await soon(async () => assert.equal(await card.locator("canvas.main").evaluate((canvas) => `${canvas.width}x${canvas.height}`), "4x2"));
  await card.locator(".near canvas").nth(4).waitFor();
  await world.shot(page, "card-light");
  await page.mouse.move(640, 5);
  await card.waitFor({ state: "hidden" });
});

test("members of a group are spread: each has its own place, card and line", async (t) => {
  const page = await world.open(t);
  const ids = Array.from({ length: 12 }, (_, k) => `twin-${k}`);
  await world.post(ids.map((id, k) => ({ id, x: stranger(2, k), label: "twin" })));
  await page.waitForFunction(() => window.lion.where("twin-11"));
  await pause(1500);
  await page.mouse.move(640, 5);
  const places = await Promise.all(ids.map((id) => where(page, id)));
  for (let i = 0; i < 12; i++) for (let j = 0; j < i; j++) {
    assert.ok(Math.hypot(places[i].x - places[j].x, places[i].y - places[j].y) > 3, `${i} and ${j} stand apart`);
  }
  await page.mouse.move(places[7].x, places[7].y);
  await page.locator("#card b", { hasText: /^twin-7$/ }).waitFor();
  await page.locator("#legend [data-by=label]").click();
  await page.mouse.move(640, 5);
  await soon(async () => {
    const warm = (await world.pixels(page, places[7], 3)).like(COLOURS.outlier);
    assert.ok(warm < 12, `its label's colour, not that of outliers: ${warm} pixels`);
  });
  // The banner selects them all, and the view shows them.
  await page.locator("#alarms .alarm.forming", { hasText: "12 outliers" }).click();
  await soon(async () => assert.equal(await page.locator("#selection tbody tr").count(), 12));
});

test("a press on a line of the feed flies there and pins the card; escape closes it", async (t) => {
  const page = await world.open(t);
  await world.post([like("guest", a[33])]);
  await told(page, "appeared", "guest");
  await page.locator("#feed .item", { hasText: "guest" }).first().click();
  const card = page.locator("#card.pinned");
  await card.locator("h3").waitFor();
  await soon(async () => assert.match(await card.innerText(), /guest/));
  await soon(async () => assert.equal(await card.locator("canvas.main").evaluate((canvas) => canvas.width), 4, "with its picture"));
  // The list holds still under the pointer, and goes on when it leaves.
  const first = await page.locator("#feed .item").first().innerText();
  await world.post([like("waiter", a[34])]);
  await page.locator("#tab-feed", { hasText: "1 new" }).waitFor();
  await soon(async () => assert.equal(await page.locator("#feed .item").first().innerText(), first));
  await page.mouse.move(640, 5);
  await told(page, "appeared", "waiter");
  await page.keyboard.press("Escape");
  await page.locator("#card").waitFor({ state: "hidden" });
  // By the keyboard too; and what is gone is said to be.
  await world.post([{ delete: "guest" }]);
  await told(page, "removed", "guest");
  await page.locator("#feed").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator("#card.pinned", { hasText: "This is where it was last, in a." }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("#card").waitFor({ state: "hidden" });
  await page.keyboard.press("?");
  await page.locator("#help").waitFor();
  await page.mouse.click(640, 300);
  await page.locator("#help").waitFor({ state: "hidden" });
});

test("the lasso selects; the selection is a table, and CSV", async (t) => {
  const page = await world.open(t);
  await world.post([like("caught-1", a[20]), like("caught-2", a[21])]);
  await told(page, "appeared", "caught-2");
  await pause(1400);
  const [p, q] = [await where(page, "caught-1"), await where(page, "caught-2")];
  const [x, y] = [(p.x + q.x) / 2, (p.y + q.y) / 2];
  const reach = Math.hypot(p.x - q.x, p.y - q.y) / 2 + 12;
  await page.keyboard.press("l");
  await page.mouse.move(x + reach, y);
  await page.mouse.down();
  for (let k = 1; k <= 30; k++) await page.mouse.move(x + reach * Math.cos((k / 30) * 6.28), y + reach * Math.sin((k / 30) * 6.28));
  await page.mouse.up();
  const table = page.locator("#selection table");
  await table.waitFor();
  const ids = await table.locator("tbody tr td:first-child").allInnerTexts();
  assert.ok(ids.includes("caught-1") && ids.includes("caught-2"), ids.join());
  assert.ok(!ids.includes("second"), "what lies elsewhere is not in it");
  await world.shot(page, "selection-light");
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
  const lines = readFileSync(await saved.path(), "utf8").trimEnd().split("\r\n");
  assert.equal(lines[0], "source,id,label,cluster,verdict,score,group,x,y,t");
  await soon(async () => assert.equal(lines.length - 1, Number((await page.locator("#tab-selection").innerText()).match(/\d+/)[0])));
  const line = lines.find((text) => text.startsWith("live,caught-1,")).split(",");
  assert.deepEqual(line.slice(2, 5), ["a", "a", "exact"]);
  assert.ok(lines.some((text) => text.startsWith(`map,${a[20].id},a,a`)), "the row of the map under it too");
  await page.keyboard.press("Escape");
  await page.locator("#selection .none").waitFor({ state: "attached" });
});

test("a selection counts what is there, and is not disturbed while points change", async (t) => {
  const page = await world.open(t);
  const ids = Array.from({ length: 10 }, (_, k) => `chosen-${k}`);
  await world.post(ids.map((id, k) => like(id, a[k])));
  await page.waitForFunction(() => window.lion.where("chosen-9"));
  await page.evaluate((list) => window.lion.selection.choose(list, []), ids);
  await page.locator("#selection tbody tr").nth(9).waitFor();
  await page.locator("#selection td button", { hasText: "chosen-4" }).focus();
  const line = await page.locator("#selection tr", { hasText: "chosen-4" }).elementHandle();
  for (let k = 0; k < 8; k++) {
    await world.post(ids.slice(0, 7).map((id, at) => like(id, a[at + k + 1])));
    await pause(120);
  }
  await soon(async () => assert.equal(await page.evaluate(() => document.activeElement.textContent), "chosen-4", "the focus stays"));
  await soon(async () => assert.equal(await line.evaluate((element) => element.isConnected), true, "the line stays"));
  await page.locator("#tab-feed").click();
  await world.post([...ids.slice(7), "chosen-0"].map((id) => ({ delete: id })));
  await page.locator("#tab-selection", { hasText: "Selection (6)" }).waitFor();
  await page.locator("#tab-selection").click();
  await soon(async () => assert.match(await page.locator("#selection .bar").innerText(), /^6 live/));
  await soon(async () => assert.equal(await page.locator("#selection tbody tr").count(), 6));
  await page.locator("#selection .none", { hasText: "4 selected points are not on the map now." }).waitFor();
});

test("verdicts are shown whole, and long names leave room for ids", async (t) => {
  const page = await world.open(t);
  const between = a[0].x.map((value, d) => (value + a[1].x[d]) / 2);
  const long = "a very long label that goes on and on and on and never seems to end";
  await world.post([{ id: "middling", x: between, label: long }, { id: "turned\u202etxt.exe", x: b[7].x, label: "x\u202ey" }]);
  await told(page, "appeared", "middling");
  await page.evaluate(() => window.lion.selection.choose(["middling"], [0, 1]));
  const cells = page.locator("#selection tbody td");
  await cells.first().waitFor();
  await soon(async () => assert.equal(await cells.nth(3).innerText(), "interpolated"));
  for (const k of [0, 3, 4, 8]) await soon(async () => assert.equal(await cells.nth(k).evaluate((cell) => cell.scrollWidth <= cell.clientWidth), true, `cell ${k}`));
  // The list of what it is most like, as it is where rows have no pictures.
  const wide = await page.evaluate((label) => {
    const card = document.querySelector("#card");
    card.hidden = false;
    card.innerHTML = `<ul class="rows"><li><span>some-id-1234</span><span class="label">${label}</span><small>0.12</small></li></ul>`;
    const [id, name] = card.querySelectorAll("span");
    const result = [id.scrollWidth <= id.clientWidth + 1, name.scrollWidth > name.clientWidth, card.scrollWidth <= card.clientWidth];
    card.hidden = true;
    return result;
  }, long);
  assert.deepEqual(wide, [true, true, true]);
  await page.locator("#legend [data-by=label]").click();
  await page.locator("#legend .class", { hasText: "x\ufffdy" }).waitFor();
  await soon(async () => assert.doesNotMatch(await page.evaluate(() => document.body.innerText + document.body.innerHTML), /[\u202a-\u202e\u2066\u2067]/));
  await world.shot(page, "names-light");
  await world.post([{ delete: "middling" }, { delete: "turned\u202etxt.exe" }]);
});

test("on a phone the history can be travelled", async (t) => {
  for (const dark of [false, true]) {
    const page = await world.open(t, { width: 390, height: 844, dark });
    await pause(400);
    const track = await page.locator(".track").boundingBox();
    assert.ok(track.width > 330, `the track is ${track.width} pixels wide`);
    await soon(async () => assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390));
    await world.shot(page, `phone-${dark ? "dark" : "light"}`);
  }
});

test("an id is found, on the map and among its rows", async (t) => {
  const page = await world.open(t);
  await world.post([like("needle", c[40])]);
  await told(page, "appeared", "needle");
  await page.keyboard.press("/");
  await page.keyboard.type("needl");
  await page.locator("#matches li").first().waitFor();
  await page.keyboard.press("Enter");
  const stage = await page.locator("#stage").boundingBox();
  await soon(async () => {
    const middle = await where(page, "needle");
    assert.ok(Math.hypot(middle.x - stage.x - stage.width / 2, middle.y - stage.y - stage.height / 2) < 3, "it is in the middle");
  });
  await soon(async () => assert.equal(await page.locator("#selection tbody tr td:first-child").innerText(), "needle"));
  await page.keyboard.press("/");
  await page.keyboard.type("row-17");
  await soon(async () => assert.match(await page.locator("#matches li").first().innerText(), /row-17\s+map row/));
  await page.keyboard.press("Enter");
  await page.locator("#selection tr.base", { hasText: "row-17" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("nobody");
  await page.locator("#matches .none").waitFor();
});

test("the history is replayed: back, on, and live again", async (t) => {
  const page = await world.open(t);
  const points = () => page.locator("#status").innerText().then((text) => Number(text.replace(/,/g, "").match(/^\d+/)[0]));
  await world.post([like("late", a[50])]);
  await told(page, "appeared", "late");
  await pause(400);
  const now = await points();
  const slider = page.locator("#slider");
  const set = (n) => slider.evaluate((input, value) => {
    input.value = String(value);
    input.dispatchEvent(new Event("input"));
  }, n);
  // The events so far: one point came and went, two came.
  await set(4);
  await status(page, /^2 points/);
  await pill(page, "Paused");
  await soon(async () => assert.match(await page.locator("#past").innerText(), /The past: .* events? before now/));
  await soon(async () => assert.equal(await where(page, "late"), null));
  await world.shot(page, "past-light");
  // What comes meanwhile waits.
  await world.post([like("meanwhile", a[51])]);
  await pause(400);
  await soon(async () => assert.equal(await where(page, "meanwhile"), null));
  await set(0);
  await status(page, /^0 points/);
  await page.locator("#speed").selectOption("1");
  await page.locator("#play").click();
  await pill(page, "Replaying");
  await page.locator("#speed").selectOption("256");
  await status(page, new RegExp(`^${now + 1} points`));
  await pill(page, "Live");
  await soon(async () => assert.ok(await where(page, "meanwhile")));
  await set(1);
  await status(page, /^1 point /);
  await page.getByRole("button", { name: "Live", exact: true }).click();
  await status(page, new RegExp(`^${now + 1} points`));
});

test("a server that is killed and started again loses nothing", async (t) => {
  const page = await world.open(t, { expected: /ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|Failed to load/ });
  await world.post([like("before", b[40])]);
  await told(page, "appeared", "before");
  await world.kill();
  t.after(() => world.serve());
  const banner = page.locator("#banner");
  await banner.waitFor();
  await soon(async () => assert.match(await banner.innerText(), /Connection lost: .* Trying again in \d+ s\./));
  await pill(page, "Offline");
  await world.shot(page, "lost-light");
  await world.serve();
  // Posted before the page has noticed that the server is back.
  await world.post([like("during-1", b[41]), like("during-2", b[42])]);
  await banner.waitFor({ state: "hidden", timeout: 15_000 });
  await told(page, "appeared", "during-1");
  await world.post([like("afterwards", b[43])]);
  await told(page, "appeared", "afterwards");
  const live = await world.get("/api/live");
  const here = await page.evaluate(() => ({ ids: [...window.lion.state.points.keys()].sort(), last: window.lion.state.last }));
  assert.deepEqual(here.ids, [...live.points.id].sort());
  assert.equal(here.last, live.last);
  assert.ok(here.ids.includes("before"));
});

test("dark and light, as the system says and as one likes", async (t) => {
  const page = await world.open(t, { dark: true });
  const paper = async () => (await world.pixels(page)).at(4, 4);
  await soon(async () => assert.ok((await paper()).every((c) => c < 40), "dark"));
  await soon(async () => assert.ok((await world.pixels(page)).like(COLOURS.a, [16, 19, 22]) > 250));
  await world.shot(page, "dark");
  await page.keyboard.press("t");
  await soon(async () => assert.ok((await paper()).every((c) => c > 240), "light"));
  await page.reload();
  await page.waitForFunction(() => window.lion);
  await soon(async () => assert.ok((await paper()).every((c) => c > 240), "light still"));
});

test("the keyboard reaches everything", async (t) => {
  const page = await world.open(t, { still: true });
  const seen = new Set();
  for (let k = 0; k < 40; k++) {
    await page.keyboard.press("Tab");
    seen.add(await page.evaluate(() => document.activeElement?.id || document.activeElement?.className || document.activeElement?.tagName));
  }
  for (const id of ["query", "png", "theme", "help-button", "over", "lasso", "nearer", "fit", "play", "slider", "speed", "tab-feed", "feed"]) {
    assert.ok(seen.has(id), `${id} is reached by Tab; reached were ${[...seen].join(", ")}`);
  }
  const id = await page.evaluate(() => [...window.lion.state.points.keys()][0]);
  await page.locator("#over").focus();
  const start = await where(page, id);
  await page.keyboard.press("ArrowRight");
  await settle(page);
  await soon(async () => assert.ok(Math.abs((await where(page, id)).x - start.x + 60) < 1, "the map went left by 60 pixels"));
  await page.keyboard.press("0");
  await page.keyboard.press("+");
  await settle(page);
  await soon(async () => assert.notDeepEqual(await where(page, id), start));
  await page.keyboard.press("0");
  await settle(page);
  await soon(async () => assert.deepEqual(await where(page, id), start));
  await page.keyboard.press("?");
  await page.locator("#help").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("#help").waitFor({ state: "hidden" });
  await page.keyboard.press(",");
  await pill(page, "Paused");
  await page.keyboard.press("e");
  await pill(page, "Live");
  await page.keyboard.press(" ");
  await pill(page, "Replaying");
  await page.keyboard.press("Escape");
  await pill(page, "Live");
});

test("the map is saved as PNG", async (t) => {
  const page = await world.open(t);
  const [saved] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("p")]);
  const png = readFileSync(await saved.path());
  assert.deepEqual([...png.subarray(1, 4)], [..."PNG"].map((letter) => letter.charCodeAt(0)));
  const stage = await page.locator("#stage").boundingBox();
  assert.ok(png.readUInt32BE(16) > 2 * stage.width + 100, "twice the screen's resolution, with a legend beside it");
  assert.ok(png.readUInt32BE(20) > 2 * stage.height + 50, "with a title");
  await soon(async () => assert.equal(await page.locator("#over").evaluate((canvas) => canvas.width), Math.round(stage.width), "the page is as it was"));
  assert.ok(png.length > 10_000, "it is not empty");
});

test("a server that starts over is told of in words", async (t) => {
  const page = await world.open(t, { expected: /ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|Failed to load/ });
  await world.forget();
  t.after(() => world.serve());
  await page.locator("#banner").waitFor();
  await world.serve();
  await world.post([like("anew", b[40])]);
  await page.locator("#note", { hasText: "The server started over: its history begins anew" }).waitFor({ timeout: 15_000 });
  await status(page, /^1 point · /);
  await soon(async () => assert.deepEqual(await page.evaluate(() => [...window.lion.state.points.keys()]), ["anew"]));
});

test("a flood of points does not freeze the page", async (t) => {
  const page = await world.open(t);
  const many = Array.from({ length: 3000 }, (_, k) => like(`flood-${k}`, rows[k % rows.length]));
  await world.post(many);
  await page.waitForFunction(() => window.lion.where("flood-2999"), undefined, { timeout: 15_000 });
  const items = await page.locator("#feed .item").count();
  assert.ok(items <= 300, `${items} lines in the feed`);
  await soon(async () => assert.match(await page.locator("#feed .item", { hasText: "points landed" }).first().innerText(), /[\d,]+ points landed/));
  const slowest = await page.evaluate(() => new Promise((done) => {
    let [worst, last, left] = [0, performance.now(), 20];
    const frame = (now) => {
      worst = Math.max(worst, now - last);
      last = now;
      if (left-- > 0) requestAnimationFrame(frame);
      else done(worst);
    };
    requestAnimationFrame(frame);
  }));
  assert.ok(slowest < 5000, `a frame took ${slowest} ms`);
});

test("a small laptop and a large screen, light and dark: nothing sticks out", async (t) => {
  for (const [width, height, dark] of [[1280, 720, true], [1600, 1000, false], [1600, 1000, true], [1000, 640, false]]) {
    const page = await world.open(t, { width, height, dark });
    await pause(500);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${wide} of ${width} pixels wide`);
    const tall = await page.evaluate(() => document.documentElement.scrollHeight);
    assert.ok(tall <= height, `${tall} of ${height} pixels high`);
    await world.shot(page, `whole-${width}x${height}-${dark ? "dark" : "light"}`);
    await page.close();
  }
});
