// Bundles the tests with the esbuild that comes with Vite, and runs them with Node's own runner.
//   node tests/run.mjs unit                         no browser, no server
//   LION=path/to/lion node tests/run.mjs browser    the real server and a real Chromium
//   PYTHON=path/to/python node tests/run.mjs notebook    a real JupyterLab and a real Chromium
//   LION=path/to/lion node tests/run.mjs bench      the same, to measure

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const kind = process.argv[2] ?? "unit";
const folder = join(here, kind);
// Inside the package, so that Node finds its modules.
const out = join(here, "..", "node_modules", ".tests", kind);
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const entries = readdirSync(folder).filter((name) => /\.test\.(ts|js)$/.test(name));
await build({
  entryPoints: entries.map((name) => join(folder, name)),
  bundle: true, platform: "node", format: "esm", target: "node20", outdir: out, outExtension: { ".js": ".mjs" },
  external: ["playwright-core"], logLevel: "warning", sourcemap: "inline",
});
const files = entries.map((name) => join(out, name.replace(/\.(ts|js)$/, ".mjs")));
const run = spawnSync(process.execPath, ["--enable-source-maps", "--test", "--test-reporter=spec", ...(kind !== "unit" ? ["--test-concurrency=1"] : []), ...process.argv.slice(3), ...files], {
  stdio: "inherit", env: { ...process.env, WEB: join(here, "..") },
});
process.exit(run.status ?? 1);
