// The legend: what the colours mean, and buttons that hide and show.

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// Builds the legend; changed() is called whenever something is hidden or shown, and chosen(k) when another way to colour was
// chosen. `gone` ends what listens for it.
function makeLegend(root, changed, chosen, gone = new AbortController()) {
  const lists = []; // of buttons, each with the set of those switched off
  const listen = (target, kind, act) => target.addEventListener(kind, act, { signal: gone.signal });
  root.replaceChildren();
  if (colourings.length > 1) root.append(makeChoice());
  else if (data.colouredBy) root.append(element("h2", "by", data.colouredBy));
  if (data.scale) makeBar(root, listen);
  // Labels that only placed points have stand with these, apart from the colours of the map.
  let ofPlaced = null;
  if (data.classes) {
    const list = makeList(hidden, data.classes.map(classEntry));
    const away = [...list.children].filter((_, c) => data.classes[c].placedOnly);
    if (away.length > 0) {
      ofPlaced = element("ul");
      ofPlaced.append(...away);
    }
    root.append(list);
  }
  if (data.placed) {
    const list = makeList(hiddenLayers, layers.map(layerEntry));
    const own = element("ul", "own");
    own.append(list.firstChild);
    if (colourings.length > 1) root.firstChild.after(own);
    else root.prepend(own);
    root.append(element("h2", "", data.placed.heading), list);
    for (const note of [data.placed.inGroups, data.scaleBreak?.note]) if (note) root.append(element("p", "note", note));
    if (ofPlaced) root.append(element("h2", "", "labels that the map does not have"), ofPlaced);
  }
  if (lists.length === 0) return;
  const all = element("button", "all", "Show all");
  all.type = "button";
  all.addEventListener("click", () => update(() => lists.forEach(({ off }) => off.clear())));
  root.append(all, element("p", "hint", "Click to hide or show, double-click (or shift-Enter) for one alone."));

  function makeChoice() {
    const [label, select] = [element("label", "choice", "Colour by "), element("select")];
    select.id = "colour-by";
    select.append(...colourings.map(({ colouredBy }, k) => {
      const option = element("option", "", colouredBy || "label");
      option.value = k;
      option.selected = colouredBy === data.colouredBy;
      return option;
    }));
    select.addEventListener("change", () => {
      gone.abort();
      chosen(Number(select.value));
      makeLegend(root, changed, chosen);
      changed();
      document.getElementById("colour-by").focus();
    });
    label.append(select);
    return label;
  }

  // One switch per entry: { kind, name, count, paint }, where paint colours the sample before its name.
  function makeList(off, entries) {
    const list = element("ul");
    const buttons = entries.map(({ kind, name, count, paint }, k) => {
      const button = element("button", kind);
      button.type = "button";
      button.title = name;
      const sample = element("i");
      listen(dark, "change", () => paint(sample));
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
  const many = rim > 0 ? data.placedLabelled : data.classes || data.scale;
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

function makeBar(root, listen) {
  const { stops, ticks, missing } = data.scale;
  const bar = element("div", "bar");
  const strip = element("i");
  const paint = () => {
    const way = matchMedia("(max-width: 720px)").matches ? "right" : "top";
    const colours = stops.map((stop) => `rgb(${onPaper(parseColour(stop))})`);
    strip.style.background = `linear-gradient(to ${way}, ${colours})`;
  };
  listen(window, "resize", paint);
  listen(dark, "change", paint);
  paint();
  const numbers = element("div");
  numbers.append(...ticks.toReversed().map((tick) => element("span", "", tick)));
  bar.append(strip, numbers);
  root.append(bar);
  if (missing > 0) root.append(element("p", "hint", `${missing.toLocaleString("en")} without a value, in grey`));
}
