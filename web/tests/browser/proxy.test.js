// The dashboard behind a proxy. See harness.js for what this needs.

import assert from "node:assert/strict";
import { request, createServer } from "node:http";
import { test } from "node:test";
import { makeTable, soon, worldOf } from "./harness.js";

const world = worldOf((made) => made.fit(makeTable(20), ["--perplexity", "8", "--iterations", "100"]));

/** A proxy as many are set up: it calls the server by the server's own address, and says nothing of its own name. `refuses`: paths that it does not forward. */
async function proxy(t, refuses = /^$/) {
  const server = createServer((from, to) => {
    if (refuses.test(from.url)) return void to.writeHead(502).end("bad gateway");
    const headers = { ...from.headers, host: `127.0.0.1:${world.port}` };
    const onward = request({ port: world.port, method: from.method, path: from.url, headers }, (answer) => {
      to.writeHead(answer.statusCode, answer.headers);
      answer.pipe(to);
    });
    onward.on("error", () => to.destroy());
    to.on("close", () => onward.destroy());
    from.pipe(onward);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => new Promise((done) => {
    server.closeAllConnections();
    server.close(done);
  }));
  return `http://localhost:${server.address().port}`;
}

test("behind a proxy that hides its name the map opens and lives", async (t) => {
  const url = await proxy(t);
  const page = await world.blank(t, url);
  await page.waitForFunction(() => window.lion && document.querySelector("#pill").dataset.state === "live");
  await soon(async () => assert.match(await page.locator("#about").innerText(), /60 rows in the map/));
  await world.post([{ id: "through", x: makeTable(1)[0].x }]);
  await page.waitForFunction(() => window.lion.where("through"));
  // What changes something is refused, with the reason.
  await page.evaluate(() => window.lion.updates.take(null));
  await page.locator("#update p", { hasText: "That was refused: pages of another site may not call this service; a proxy before the server must forward the Host" }).waitFor();
});

test("a page whose script is not delivered says so", async (t) => {
  const page = await world.blank(t, await proxy(t, /app\.js/));
  await page.locator("#unopened").waitFor({ timeout: 15_000 });
  await soon(async () => assert.match(await page.locator("#unopened").innerText(), /script of this page was not delivered.*proxy/s));
  await soon(async () => assert.ok(!/opening/.test(await page.locator("header").innerText())));
  await world.shot(page, "undelivered-light");
});

test("a page whose requests are refused says why", async (t) => {
  const page = await world.blank(t, world.url);
  await page.route("**/api/map", (route) => route.fulfill({
    status: 403, contentType: "application/json", body: JSON.stringify({ error: "forbidden", detail: "this service is not called \"map.example\": allow the name with --allow-host" }),
  }));
  await page.reload();
  await page.locator("#failure", { hasText: "allow the name with --allow-host" }).waitFor();
  await soon(async () => assert.ok(!/opening/.test(await page.locator("header").innerText())));
});
