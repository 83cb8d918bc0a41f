// The widget where people use it: a real JupyterLab with a real kernel, in a real browser.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const PYTHON = process.env.PYTHON ?? "python3";
const SHOTS = process.env.SHOTS ?? join(tmpdir(), "lion-notebook-shots");
const FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--force-color-profile=srgb"];

/** The cells of the notebook, in order. Python writes what it knows into a file that the test reads. */
const CELLS = [
  `import json, numpy as np, pandas as pd
from liontsne import LionTSNE
rng = np.random.default_rng(0)
kind = rng.integers(0, 4, 400)
X = rng.normal(size=(400, 6)) + 7 * np.eye(4, 6)[kind]
frame = pd.DataFrame({"income": X[:, 0].round(2), "town": np.array(["Lyon", "Oslo", "Kyiv", "Lima"])[kind]})
lion = LionTSNE(perplexity=15, max_iter=600, random_state=0).fit(X, frame["town"])
widget = lion.widget(frame, height=420)
def tell(_=None):
    with open("told.tmp", "w") as file:
        json.dump({"selection": widget.selection.tolist(), "placed": widget.selection_placed.tolist()}, file)
    import os; os.replace("told.tmp", "told.json")
widget.observe(tell, ["selection", "selection_placed"])
tell()
widget`,
  `widget.add(np.vstack([X[:30] + 0.1, X[:2] + 300]))`,
  `widget.selection = [3, 1, 4]`,
  `widget.color = "income"`,
  `lion`,
  `lion.place(np.vstack([X[:30] + 0.1, X[:2] + 300]))`,
];

let folder, server, browser, page, url;
const complaints = [];

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

async function freePort() {
  const probe = createServer();
  await new Promise((done) => probe.listen(0, "127.0.0.1", done));
  const { port } = probe.address();
  await new Promise((done) => probe.close(done));
  return port;
}

async function until(what, passes, seconds = 30) {
  for (const end = Date.now() + 1000 * seconds; Date.now() < end; await pause(50)) {
    const found = await passes();
    if (found) return found;
  }
  return assert.fail(`${what} did not happen within ${seconds} s`);
}

const told = () => (existsSync(join(folder, "told.json")) ? JSON.parse(readFileSync(join(folder, "told.json"), "utf8")) : null);
const command = (name) => page.evaluate((id) => window.jupyterapp.commands.execute(id), name);
const idle = () => page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').waitFor({ timeout: 60_000 });

/** Runs the cell that is chosen, and waits until its number is there. */
async function runCell(k) {
  await page.locator(".jp-CodeCell .jp-InputPrompt").nth(k).click();
  await command("notebook:run-cell");
  await until(`cell ${k}`, async () => /\[\d+\]:/.test(await page.locator(".jp-CodeCell .jp-InputPrompt").nth(k).innerText()), 60);
  const error = page.locator(".jp-CodeCell").nth(k).locator('[data-mime-type="application/vnd.jupyter.stderr"], [data-mime-type="application/vnd.jupyter.error"]');
  assert.equal(await error.count() === 0 ? "" : await error.first().innerText(), "");
}

/** How many pixels of the map are far from the colour of the paper. */
async function painted() {
  const png = (await page.locator("#stage").screenshot()).toString("base64");
  return page.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    let found = 0;
    for (let at = 0; at < data.length; at += 4) found += Math.abs(data[at] - 251) + Math.abs(data[at + 1] - 252) + Math.abs(data[at + 2] - 253) > 60 ? 1 : 0;
    return found;
  }, png);
}

before(async () => {
  mkdirSync(SHOTS, { recursive: true });
  folder = mkdtempSync(join(tmpdir(), "lion-notebook-"));
  const cells = CELLS.map((source, k) => ({ cell_type: "code", id: `cell-${k}`, metadata: {}, execution_count: null, outputs: [], source }));
  writeFileSync(join(folder, "map.ipynb"), JSON.stringify({ cells, metadata: { kernelspec: { name: "python3", display_name: "Python 3", language: "python" } }, nbformat: 4, nbformat_minor: 5 }));
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const options = ["--no-browser", "--allow-root", `--ServerApp.port=${port}`, "--ServerApp.ip=127.0.0.1", "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True", "--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"];
  server = spawn(PYTHON, ["-m", "jupyterlab", ...options], { cwd: folder, stdio: "ignore", env: { ...process.env, JUPYTER_CONFIG_DIR: join(folder, ".config"), IPYTHONDIR: join(folder, ".ipython") } });
  await until("JupyterLab", () => fetch(`${url}/api`).then((answer) => answer.ok, () => false), 60);
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: FLAGS });
  page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(`${url}/lab/tree/map.ipynb`, { timeout: 60_000 });
  await page.locator(".jp-CodeCell").first().waitFor({ timeout: 60_000 });
  await idle();
  await page.locator(".jp-CodeCell .jp-InputArea-editor").first().click();
  await command("notebook:enter-command-mode").catch(() => {});
});

after(async () => {
  await browser?.close();
  server?.kill("SIGTERM");
  await new Promise((done) => (server && server.exitCode === null ? server.once("exit", done) : done()));
  rmSync(folder, { recursive: true, force: true });
});

test("the widget draws the map of the labels", async () => {
  await runCell(0);
  await page.locator("#stage canvas").first().waitFor({ timeout: 30_000 });
  await until("a picture", async () => (await painted()) > 3000);
  await page.locator("#legend", { hasText: "Lima" }).waitFor();
  await page.screenshot({ path: join(SHOTS, "widget.png") });
});

test("hovering a point shows its card with the columns of the frame", async () => {
  const card = page.locator("#card");
  const stage = await page.locator("#stage").boundingBox();
  // Over the map, line by line, until a point is hit.
  let [x, y] = [0.2, 0.2];
  await until("a card", async () => {
    await page.mouse.move(stage.x + x * stage.width, stage.y + y * stage.height);
    [x, y] = x > 0.8 ? [0.2, y + 0.04] : [x + 0.01, y];
    await pause(40);
    return card.isVisible();
  }, 60);
  await card.locator(".shown", { hasText: "town" }).waitFor({ timeout: 10_000 });
  assert.match(await card.innerText(), /town\s+(Lyon|Oslo|Kyiv|Lima)/);
  await page.screenshot({ path: join(SHOTS, "card.png") });
});

test("a lasso around everything sets widget.selection, in Python too", async () => {
  const stage = await page.locator("#stage").boundingBox();
  const at = (x, y) => page.mouse.move(stage.x + x * stage.width, stage.y + y * stage.height, { steps: 12 });
  await page.locator("#lasso").click();
  await at(0.03, 0.03);
  await page.mouse.down();
  for (const [x, y] of [[0.97, 0.03], [0.97, 0.5], [0.85, 0.97], [0.03, 0.97], [0.03, 0.05]]) await at(x, y);
  await page.mouse.up();
  const { selection } = await until("the selection in Python", () => (told()?.selection.length > 0 ? told() : null));
  assert.equal(selection.length, 400);
  assert.deepEqual([...new Set(selection)].length, 400);
  assert.match(await page.locator("#selected").innerText(), /400 selected/);
  await page.screenshot({ path: join(SHOTS, "lasso.png") });
});

test("widget.add lands new points, outliers apart", async () => {
  await runCell(1);
  await until("points that land", async () => /Arrivals\s+30\s+Outliers\s+2/.test(await page.locator("#legend").innerText()));
  await pause(1500);
  await page.screenshot({ path: join(SHOTS, "added.png") });
});

test("what Python selects is shown, and the colour follows a column", async () => {
  await runCell(2);
  await page.locator("#selected", { hasText: "3 selected" }).waitFor({ timeout: 10_000 });
  assert.deepEqual(told().selection, [3, 1, 4]);
  await runCell(3);
  await page.locator("#legend .ramp:not([hidden])").waitFor({ timeout: 10_000 });
  assert.match(await page.locator("#legend").innerText(), /income/);
  assert.match(await page.locator("#legend .ramp small").innerText(), /^2nd to 98th percentile/);
  // Placed rows have no income of their own: none takes that of its neighbour.
  const without = await page.locator("#legend li", { hasText: "no value" }).locator("small").first().textContent();
  assert.equal(without, "30");
  await page.locator("#stage").scrollIntoViewIfNeeded();
  await pause(500);
  await page.screenshot({ path: join(SHOTS, "ramp.png") });
});

test("the dark theme is followed", async () => {
  await page.evaluate(() => window.jupyterapp.commands.execute("apputils:change-theme", { theme: "JupyterLab Dark" }));
  const paper = () => page.locator("#stage").evaluate((stage) => getComputedStyle(stage).backgroundColor);
  await until("dark paper", async () => (await paper()) === "rgb(16, 19, 22)");
  await page.locator("#stage").scrollIntoViewIfNeeded();
  await pause(800);
  await page.screenshot({ path: join(SHOTS, "dark.png") });
  assert.deepEqual(complaints, []);
});

test("a fitted map and placements leave a picture in the file, which opens without a kernel", async () => {
  await runCell(4);
  await runCell(5);
  await command("docmanager:save");
  const file = join(folder, "map.ipynb");
  const saved = () => JSON.parse(readFileSync(file, "utf8"));
  await until("the pictures in the file", () => saved().cells.slice(4).every((cell) => JSON.stringify(cell.outputs).includes("data:image/svg+xml")));
  // As somebody else has it: another file, which this JupyterLab has not signed.
  const later = saved();
  later.cells = [{ cell_type: "markdown", id: "words", metadata: {}, source: "A map from elsewhere" }, ...later.cells.slice(4)];
  writeFileSync(join(folder, "later.ipynb"), JSON.stringify(later));
  const other = await page.context().newPage();
  await other.goto(`${url}/lab/tree/later.ipynb?reset`, { timeout: 60_000 });
  const pictures = other.locator("figure img");
  await until("two pictures", async () => (await pictures.count()) === 2);
  const drawn = () => pictures.evaluateAll((images) => images.every((image) => image.complete && image.naturalWidth > 500));
  await until("pictures that are drawn", drawn);
  await pictures.last().scrollIntoViewIfNeeded();
  await other.screenshot({ path: join(SHOTS, "static.png") });
  await other.close();
});
