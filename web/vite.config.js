// The names of what is built never change: the server embeds these three files.
export default {
  base: "./",
  build: {
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: { entryFileNames: "app.js", chunkFileNames: "app-[name].js", assetFileNames: "app[extname]" },
    },
  },
  server: { proxy: { "/api": process.env.LION_URL ?? "http://127.0.0.1:7878" } },
};
