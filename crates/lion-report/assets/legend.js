// The legend: what the colours mean, and buttons that hide and show.

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// Builds the legend; changed() is called whenever something is hidden or shown.
function makeLegend(root, changed) {
  const lists = []; // of buttons, each with the set of those switched off
  if (data.scale) makeBar(root);
  if (data.classes) root.append(makeList(hidden, data.classes.map(classEntry)));
  if (data.placed) {
    const list = makeList(hiddenLayers, layers.map(layerEntry));
    const own = element("ul", "own");
    own.append(list.firstChild);
    root.prepend(own);
    root.append(element("h2", "", data.placed.heading), list);
    if (data.placed.inGroups) root.append(element("p", "note", data.placed.inGroups));
  }
  if (lists.length === 0) return;
  const all = element("button", "all", "Show all");
  all.type = "button";
  all.addEventListener("click", () => update(() => lists.forEach(({ off }) => off.clear())));
  root.append(all, element("p", "hint", "Click to hide or show, double-click (or shift-Enter) for one alone."));

  // One switch per entry: { kind, name, count, paint }, where paint colours the sample before its name.
  function makeList(off, entries) {
    const list = element("ul");
    const buttons = entries.map(({ kind, name, count, paint }, k) => {
      const button = element("button", kind);
      button.type = "button";
      button.title = name;
      const sample = element("i");
      dark.addEventListener("change", () => paint(sample));
      paint(sample);
      button.append(sample, element("span", "", name), element("small", "", count));
      // A double click is two clicks first, which undo each other; then it leaves this one alone.
      button.addEventListener("click", (event) => (event.shiftKey ? only(k) : toggle(k)));
      button.addEventListener("dblclick", () => only(k));
      const item = element("li");
      item.append(button);
      list.append(item);
      return button;
    });
    lists.push({ off, buttons });
    function toggle(k) {
      update(() => off.delete(k) || off.add(k));
    }
    function only(k) {
      // Once more on the one that is alone brings all back.
      const alone = off.size === buttons.length - 1 && !off.has(k);
      update(() => {
        off.clear();
        if (!alone) buttons.forEach((_, other) => other !== k && off.add(other));
      });
    }
    return list;
  }
  function update(change) {
    change();
    for (const { off, buttons } of lists) {
      buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(!off.has(k))));
    }
    all.hidden = lists.every(({ off }) => off.size === 0);
    changed();
  }
  update(() => {});
}

function classEntry({ name, count, colour }) {
  const paint = ({ style }) => {
    style.background = style.borderColor = `rgb(${onPaper(parseColour(colour))})`;
  };
  return { kind: "class", name, count, paint };
}

// The sample is as the points of the layer look; where labels decide their colour it has none of its own.
function layerEntry({ name, count, diamond, rim, size }) {
  const many = rim > 0 ? data.placed.labelled : data.classes || data.scale;
  const paint = (sample) => {
    const ringed = rim > 0 && !diamond;
    const own = many ? onPaper(parseColour(data.unlabelled)) : colours.plain;
    const fill = `rgb(${diamond ? colours.outlier : ringed ? colours.accent : own})`;
    sample.className = diamond ? "diamond" : "";
    sample.style.scale = size;
    sample.style.background = ringed && many ? "none" : fill;
    sample.style.borderColor = ringed ? "" : fill;
  };
  return { kind: "layer", name, count, paint };
}

function makeBar(root) {
  const { stops, ticks, missing } = data.scale;
  const bar = element("div", "bar");
  const strip = element("i");
  const paint = () => {
    const way = matchMedia("(max-width: 720px)").matches ? "right" : "top";
    const colours = stops.map((stop) => `rgb(${onPaper(parseColour(stop))})`);
    strip.style.background = `linear-gradient(to ${way}, ${colours})`;
  };
  addEventListener("resize", paint);
  dark.addEventListener("change", paint);
  paint();
  const numbers = element("div");
  numbers.append(...ticks.toReversed().map((tick) => element("span", "", tick)));
  bar.append(strip, numbers);
  root.append(bar);
  if (missing > 0) root.append(element("p", "hint", `${missing.toLocaleString("en")} without a label, in grey`));
}
