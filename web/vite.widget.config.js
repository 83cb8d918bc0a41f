// The widget of notebooks: one module, which the Python package carries.

export default {
  publicDir: false,
  build: {
    target: "es2022",
    outDir: "../crates/lion-tsne-py/python/liontsne/static",
    emptyOutDir: true,
    lib: { entry: "src/widget.ts", formats: ["es"], fileName: () => "widget.js" },
  },
};
