// The legend: what the colours mean, and buttons that hide and show.

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// Builds the legend; changed() is called whenever a class is hidden or shown.
function makeLegend(root, changed) {
  if (data.scale) return makeBar(root);
  if (!data.classes) return;
  const list = element("ul");
  const buttons = data.classes.map((entry, c) => {
    const button = element("button", "class");
    button.type = "button";
    button.title = entry.name;
    const dot = element("i");
    const paint = () => {
      dot.style.background = dot.style.borderColor = `rgb(${onPaper(parseColour(entry.colour))})`;
    };
    dark.addEventListener("change", paint);
    paint();
    button.append(dot, element("span", "", entry.name), element("small", "", entry.count));
    // A double click is two clicks first, which undo each other; then it leaves this class alone.
    button.addEventListener("click", (event) => (event.shiftKey ? only(c) : toggle(c)));
    button.addEventListener("dblclick", () => only(c));
    const item = element("li");
    item.append(button);
    list.append(item);
    return button;
  });
  const all = element("button", "all", "Show all");
  all.type = "button";
  all.addEventListener("click", () => update(() => hidden.clear()));
  root.append(list, all, element("p", "hint", "Click to hide or show, double-click (or shift-Enter) for one alone."));

  function toggle(c) {
    update(() => hidden.delete(c) || hidden.add(c));
  }
  function only(c) {
    // Once more on the one that is alone brings all back.
    const alone = hidden.size === buttons.length - 1 && !hidden.has(c);
    update(() => {
      hidden.clear();
      if (!alone) buttons.forEach((_, other) => other !== c && hidden.add(other));
    });
  }
  function update(change) {
    change();
    buttons.forEach((button, c) => button.setAttribute("aria-pressed", String(!hidden.has(c))));
    all.hidden = hidden.size === 0;
    changed();
  }
  update(() => {});
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
