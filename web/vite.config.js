// The names of what is built never change: the server embeds these three files.

import { readFileSync } from "node:fs";

/** The symbols, which the page has in itself: the widget of notebooks has the same. */
const sprite = {
  name: "sprite",
  transformIndexHtml: { order: "pre", handler: (page) => page.replace("<!--sprite-->", () => readFileSync(new URL("src/sprite.svg", import.meta.url), "utf8").trim()) },
};

// A classic script, without `crossorigin`: browsers send an Origin with modules, also to their own site. Behind a proxy
// that hides the name by which it was called, the server takes such a request for one of another site and refuses it.
const classic = {
  name: "classic-script",
  enforce: "post",
  generateBundle(_, bundle) {
    for (const part of Object.values(bundle)) if (part.type === "chunk") part.code = `"use strict";(()=>{${part.code.trim()}})();\n`;
  },
  transformIndexHtml: {
    order: "post",
    handler: (page) => page.replace('type="module" crossorigin', "defer").replaceAll(" crossorigin", ""),
  },
};

export default {
  base: "./",
  plugins: [sprite, classic],
  build: {
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: { entryFileNames: "app.js", assetFileNames: "app[extname]" },
    },
  },
  server: { proxy: { "/api": process.env.LION_URL ?? "http://127.0.0.1:7878" } },
};
