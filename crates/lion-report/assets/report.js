"use strict";
// The report can be read without any of this.

// A click on the head of a column sorts by it: numbers from the largest, words from A, then the other way, then as it was.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  const given = [...body.rows];
  const heads = [...table.tHead.querySelectorAll('th[scope="col"]')];
  // With two rows of heads the order in the page is not that of the columns.
  const column = (head) => heads.filter((other) => other.offsetLeft < head.offsetLeft).length;
  const key = (row, at) => {
    const { value } = row.cells[at].dataset;
    return value === undefined ? NaN : Number(value);
  };
  const sort = (head) => {
    const at = column(head);
    const numeric = head.classList.contains("number");
    const orders = numeric ? ["descending", "ascending", null] : ["ascending", "descending", null];
    const order = orders[(orders.indexOf(head.getAttribute("aria-sort")) + 1) % 3];
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    let rows = given;
    if (order) {
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const compare = (a, b) => {
        if (!numeric) return sign * a.cells[at].textContent.localeCompare(b.cells[at].textContent, "en", { numeric: true });
        const [x, y] = [key(a, at), key(b, at)];
        // What has no number stays at the end.
        return Number.isNaN(x) || Number.isNaN(y) ? Number.isNaN(x) - Number.isNaN(y) : sign * (x - y);
      };
      rows = [...given].sort(compare);
    }
    body.append(...rows);
  };
  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(head));
  }
}

// What is wider than its box can be moved with the keyboard too.
const boxes = [...document.querySelectorAll(".scroll")];
const reach = () => boxes.forEach((box) => {
  if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
});
addEventListener("resize", reach);
reach();

// The contents show where the reader is, and fold away when a line of them was chosen.
const headings = [...document.querySelectorAll("main :is(h2, h3)[id]")];
const links = [...document.querySelectorAll("nav a")];
const here = () => {
  const last = headings.findLast((heading) => heading.getBoundingClientRect().top < 120);
  for (const link of links) {
    if (last && link.hash === `#${last.id}`) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
};
let asked = false;
addEventListener("scroll", () => {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; here(); });
}, { passive: true });
here();
const folded = document.querySelector("details.top");
folded?.addEventListener("click", (event) => { if (event.target.closest("a")) folded.open = false; });
