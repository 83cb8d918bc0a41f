// What the browser tests share: a small map made by `lion fit`, `lion serve` on it, a Chromium, and pixels.
//
// Needs Node 20 or later, a Chromium (Debian: apt-get install chromium; elsewhere set CHROMIUM to its path) and the
// program itself (LION=path/to/lion). Screenshots go to SHOTS, else to tests/screenshots. DIST=folder shows the dashboard
// of that folder in place of the one inside the program, to try a build without building the program.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, beforeEach } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const WEB = process.env.WEB ?? process.cwd();
const LION = process.env.LION && resolve(process.env.LION);
const SHOTS = resolve(process.env.SHOTS ?? join(WEB, "tests/screenshots"));
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
];
/** The colours of the first three classes, and of outliers. */
export const COLOURS = { a: [70, 127, 179], b: [250, 183, 42], c: [162, 28, 104], outlier: [255, 59, 0] };
export const LABELS = ["a", "b", "c"];
const DIMS = 8;

/** The same numbers every time. */
export function dice(seed) {
  let word = seed >>> 0;
  const next = () => ((word = (Math.imul(word, 1664525) + 1013904223) >>> 0) / 2 ** 32);
  return () => Math.sqrt(-2 * Math.log(next() + 1e-12)) * Math.cos(2 * Math.PI * next());
}

/** Three clouds of rows, far from each other: `many` rows each. */
export function makeTable(many, seed = 1) {
  const normal = dice(seed);
  const rows = [];
  for (let k = 0; k < many * LABELS.length; k++) {
    const label = k % LABELS.length;
    rows.push({ id: `row-${k}`, label: LABELS[label], x: Array.from({ length: DIMS }, (_, d) => (d === label ? 20 : 0) + normal()) });
  }
  return rows;
}

/** A row of the map as a live point. */
export const like = (id, { x, label }) => ({ id, x, label });

/** A row that is nowhere near the map; rows of the same `where` are near each other. */
export function stranger(where, seed) {
  const normal = dice(seed * 7919 + 13);
  return Array.from({ length: DIMS }, (_, d) => (d === 3 + (where % 5) ? -60 - 40 * where : 0) + 0.05 * normal());
}

/** A table of f32 as .npy. */
export function npy(columns, values) {
  let header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${values.length / columns}, ${columns}), }`;
  header = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + "\n";
  const length = Buffer.alloc(2);
  length.writeUInt16LE(header.length);
  return Buffer.concat([Buffer.from("\x93NUMPY\x01\x00", "latin1"), length, Buffer.from(header, "latin1"), Buffer.from(Float32Array.from(values).buffer)]);
}

export class World {
  constructor() {
    assert.ok(LION, "set LION to the path of the program lion");
    this.folder = mkdtempSync(join(tmpdir(), "lion-dashboard-"));
    mkdirSync(SHOTS, { recursive: true });
  }

  /** Fits a map of a made table. Rows may have labels, and texts to be shown, by the names of their columns. */
  fit(rows, more = []) {
    const [features, shown] = [rows[0].x.map((_, d) => `d${d}`), Object.keys(rows[0].shown ?? {})];
    const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
    const label = rows[0].label === undefined ? [] : ["label"];
    const line = (row) => [row.id, ...label.map(() => row.label), ...row.x, ...shown.map((name) => quoted(row.shown[name]))].join(",");
    if (shown.length > 0) more = [...more, "--columns", features.join(","), "--show", shown.join(",")];
    const table = join(this.folder, "table.csv");
    writeFileSync(table, [["id", ...label, ...features, ...shown].join(","), ...rows.map(line)].join("\n"));
    this.map = join(this.folder, "made.lion");
    execFileSync(LION, ["fit", table, "-o", this.map, "--id", "id", ...label.flatMap((name) => ["--label", name]), "--pca", "none", "--seed", "1", "-q", ...more], { stdio: "pipe" });
  }

  /** A map of given places, one line of coordinates for each row; its clusters are the labels, if rows have some. */
  adopt(rows, places) {
    const file = (name, columns, values) => {
      const path = join(this.folder, name);
      writeFileSync(path, npy(columns, values));
      return path;
    };
    this.map = join(this.folder, "made.lion");
    const x = file("x.npy", rows[0].x.length, rows.flatMap((row) => row.x));
    const y = file("y.npy", places[0].length, places.flat());
    const labels = rows[0].label === undefined ? [] : ["--labels", file("labels.npy", 1, rows.map((row) => row.label))];
    execFileSync(LION, ["fit", x, "--embedding", y, ...labels, "--pca", "none", "--power", "20", "-o", this.map, "-q"], { stdio: "pipe" });
  }

  /** Serves it, if it is not; on the same port and store as before. */
  async serve() {
    if (this.server && this.server.exitCode === null && this.server.signalCode === null) return;
    this.port ??= await freePort();
    this.url = `http://127.0.0.1:${this.port}`;
    const args = ["serve", this.map, "--port", String(this.port), "--store", join(this.folder, "store.db"), "-q"];
    this.server = spawn(LION, args, { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    this.server.stderr.on("data", (text) => { said += text; });
    for (let k = 0; k < 300; k++) {
      if (this.server.exitCode !== null) throw new Error(`lion serve ended: ${said}`);
      const ready = await fetch(`${this.url}/healthz`).then(({ ok }) => ok, () => false);
      if (ready) return;
      await pause(50);
    }
    throw new Error(`lion serve is not ready: ${said}`);
  }

  /** Ends the server without a chance to tidy up. */
  async kill() {
    const { server } = this;
    const ended = new Promise((done) => server.once("exit", done));
    server.kill("SIGKILL");
    await ended;
  }

  /** Ends the server and forgets all that happened: the next one starts over. */
  async forget() {
    await this.kill();
    for (const end of ["", "-wal", "-shm"]) rmSync(join(this.folder, `store.db${end}`), { force: true });
  }

  async post(points) {
    const answer = await fetch(`${this.url}/api/points`, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(points),
    });
    const body = await answer.json();
    assert.equal(answer.status, 200, JSON.stringify(body));
    return body;
  }

  async get(path) {
    return (await fetch(`${this.url}${path}`)).json();
  }

  async launch() {
    this.browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: FLAGS });
    this.decoder = await this.browser.newPage();
  }

  /** Writes a page of a history by `lion replay`; gives its file. */
  replay(name, ...args) {
    const page = join(this.folder, `${name}.html`);
    execFileSync(LION, ["replay", ...args, "-o", page, "-q"], { stdio: "pipe", cwd: this.folder });
    if (process.env.DIST) {
      const built = (file) => readFileSync(join(process.env.DIST, file), "utf8");
      const [recording] = readFileSync(page, "utf8").match(/<script id="recording"[^]*?<\/script>/);
      const shell = built("index.html").replace(/<script defer[^]*?<\/script>/, "").replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${built("app.css")}</style>`);
      writeFileSync(page, shell.replace("</body>", () => `${recording}<script>${built("app.js")}</script></body>`));
    }
    return page;
  }

  /** Opens a page from the disk without a network; the test fails if it asks for anything or reports an error. */
  async openFile(t, file, { width = 1280, height = 720, dark = false, still = false } = {}) {
    const context = await this.browser.newContext({
      viewport: { width, height }, colorScheme: dark ? "dark" : "light", reducedMotion: still ? "reduce" : "no-preference", offline: true,
    });
    const page = await context.newPage();
    const complaints = [];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || complaints.push(request.url()));
    await page.goto(pathToFileURL(file).href, { timeout: 30_000 });
    await page.waitForFunction(() => window.lion);
    t.after(async () => {
      await context.close();
      assert.deepEqual(complaints, []);
    });
    return page;
  }

  /** Opens the dashboard, or its address with `at` behind it; the test fails if it reports an error that is not expected. */
  async open(t, { width = 1280, height = 720, dark = false, expected = /^$/, still = false, webgl = true, touch = false, at = "" } = {}) {
    const context = await this.browser.newContext({
      viewport: { width, height }, colorScheme: dark ? "dark" : "light", acceptDownloads: true, reducedMotion: still ? "reduce" : "no-preference", hasTouch: touch,
    });
    const page = await context.newPage();
    const complaints = [];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    if (!webgl) {
      await page.addInitScript(() => {
        const real = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, options) {
          return kind === "webgl2" ? null : real.call(this, kind, options);
        };
      });
    }
    if (process.env.DIST) await this.replaceAssets(page, this.url);
    await page.goto(`${this.url}/${at}`, { timeout: 30_000 });
    await page.waitForFunction(() => window.lion && document.querySelector("#pill").dataset.state === "live");
    t.after(async () => {
      await context.close();
      assert.deepEqual(complaints.filter((text) => !expected.test(text)), []);
    });
    return page;
  }

  /** Opens an address without waiting for the map. */
  async blank(t, url) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 720 } });
    t.after(() => context.close());
    const page = await context.newPage();
    if (process.env.DIST) await this.replaceAssets(page, url);
    await page.goto(url, { timeout: 30_000 });
    return page;
  }

  async replaceAssets(page, url) {
    for (const name of ["", "app.js", "app.css"]) {
      await page.route(`${url}/${name}`, async (route) => {
        const answer = await route.fetch();
        if (!answer.ok()) return route.fulfill({ response: answer });
        await route.fulfill({ response: answer, body: readFileSync(join(process.env.DIST, name || "index.html")) });
      });
    }
  }

  async shot(page, name) {
    await settle(page);
    await page.screenshot({ path: join(SHOTS, `${name}.png`) });
  }

  /** The pixels of the map, or of a square of 2 `reach` around a place of the page. */
  async pixels(page, around, reach = 14) {
    await settle(page);
    const stage = await page.locator("#stage").boundingBox();
    const clip = around ? { x: around.x - reach, y: around.y - reach, width: 2 * reach, height: 2 * reach } : stage;
    const base64 = (await page.screenshot({ clip })).toString("base64");
    const { width, height, data } = await this.decoder.evaluate(async (png) => {
      const image = new Image();
      image.src = `data:image/png;base64,${png}`;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      const { data: bytes } = context.getImageData(0, 0, image.width, image.height);
      // As text: a list of a million numbers takes half a minute on its way.
      let text = "";
      for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
      return { width: image.width, height: image.height, data: btoa(text) };
    }, base64);
    return new Pixels(width, height, Buffer.from(data, "base64"));
  }

  async end() {
    await this.browser?.close();
    if (this.server && this.server.exitCode === null && this.server.signalCode === null) await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What the tests of a file share: a map that `make` makes, its server and a browser. `anew`: each test begins without points and events. */
export function worldOf(make, { anew = false } = {}) {
  const world = new World();
  before(async () => {
    make(world);
    if (!anew) await world.serve();
    await world.launch();
  });
  if (anew) beforeEach(async () => {
    if (world.server) await world.forget();
    await world.serve();
  });
  after(() => world.end());
  return world;
}

/** How small maps are fitted, quickly. */
export const QUICK = ["--perplexity", "15", "--iterations", "400"];

export class Pixels {
  constructor(width, height, data) {
    Object.assign(this, { width, height, data });
  }

  at(x, y) {
    const k = 4 * (y * this.width + x);
    return [this.data[k], this.data[k + 1], this.data[k + 2]];
  }

  /** How many lie along the way from the paper to this colour, at least a third of it. */
  like(colour, paper = [251, 252, 253]) {
    const way = colour.map((c, k) => c - paper[k]);
    const length = way.reduce((sum, c) => sum + c * c, 0);
    return this.count((pixel) => {
      const off = pixel.map((c, k) => c - paper[k]);
      const share = off.reduce((sum, c, k) => sum + c * way[k], 0) / length;
      const aside = Math.hypot(...off.map((c, k) => c - share * way[k]));
      return share > 0.3 && share < 1.2 && aside < 24;
    });
  }

  count(passes) {
    let found = 0;
    for (let k = 0; k < this.data.length; k += 4) found += passes([this.data[k], this.data[k + 1], this.data[k + 2]]) ? 1 : 0;
    return found;
  }

  /** How many differ from another picture of the same size. */
  changed(other) {
    let found = 0;
    for (let k = 0; k < this.data.length; k += 4) {
      const far = Math.abs(this.data[k] - other.data[k]) + Math.abs(this.data[k + 1] - other.data[k + 1]) + Math.abs(this.data[k + 2] - other.data[k + 2]);
      found += far > 20 ? 1 : 0;
    }
    return found;
  }
}

export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Asserts what the page is about to show: it draws in the frame after its state has changed. */
export async function soon(assertion, milliseconds = 5000) {
  for (const end = Date.now() + milliseconds; ;) {
    try {
      return await assertion();
    } catch (error) {
      if (Date.now() > end) throw error;
      await pause(50);
    }
  }
}

/** Two frames: the one that was asked for, and the one after it, when it is on the screen. */
export const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Where a live point is on the page. */
export const where = (page, id) => page.evaluate((name) => window.lion.where(name), id);

/** Waits until the newest feed item of a kind about an id is there, and gives its words. */
export async function told(page, kind, text) {
  const item = page.locator(`#feed .item[data-kind="${kind}"]`, text ? { hasText: text } : {}).first();
  await item.waitFor({ timeout: 20_000 });
  return item.innerText();
}

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}
