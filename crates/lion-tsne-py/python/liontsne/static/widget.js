function Re(o, t) {
  if (o.byteLength < 4) throw new Error(`${t} is empty`);
  const e = new DataView(o).getUint32(0, !0), s = 4 + e;
  if (s > o.byteLength) throw new Error(`${t} ends within the header`);
  const i = JSON.parse(new TextDecoder().decode(new Uint8Array(o, 4, e))), n = s % 8 === 0 ? o : o.slice(s), r = s % 8 === 0 ? s : 0;
  return { header: i, find: (l) => {
    const h = i.columns.find((c) => c.name === l);
    if (h && r + h.offset + h.length > n.byteLength) throw new Error(`the column ${l} of ${t} is cut short`);
    return h && new Uint8Array(n, r + h.offset, h.length);
  } };
}
function pe(o) {
  const { header: t, find: e } = Re(o, "the map"), { rows: s } = t, i = (n, r) => {
    const a = e(n);
    if (!a) throw new Error(`the map has no column ${n}`);
    if (a.length !== s * 4) throw new Error(`the column ${n} of the map has not ${s} values`);
    return new r(a.buffer, a.byteOffset, s);
  };
  return {
    rows: s,
    x: i("x", Float32Array),
    y: i("y", Float32Array),
    z: e("z") ? i("z", Float32Array) : null,
    cluster: e("cluster") ? i("cluster", Uint32Array) : new Uint32Array(s).fill(4294967295),
    ids: new Oe(s, e("ids"))
  };
}
class Oe {
  constructor(t, e) {
    this.rows = t, this.bytes = e;
  }
  text = null;
  starts = null;
  /** Whether rows have ids of their own. */
  get named() {
    return this.bytes !== void 0;
  }
  /** Whether the ids of another map begin with all of these, in the same order. */
  isStartOf(t) {
    const [e, s] = [this.bytes, t.bytes];
    if (!e || !s || this.rows > t.rows || e.length > s.length) return !1;
    for (let i = 0; i < e.length; i++) if (e[i] !== s[i]) return !1;
    return e.length === s.length || s[e.length] === 10;
  }
  open() {
    if (this.text === null || this.starts === null) {
      const t = new TextDecoder().decode(this.bytes), e = new Uint32Array(this.rows + 1);
      for (let s = 0, i = 0; s < this.rows; s++) {
        e[s] = i;
        const n = t.indexOf(`
`, i);
        i = n < 0 ? t.length + 1 : n + 1;
      }
      e[this.rows] = t.length + 1, this.text = t, this.starts = e;
    }
    return { text: this.text, starts: this.starts };
  }
  at(t) {
    if (!this.bytes) return String(t);
    const { text: e, starts: s } = this.open();
    return e.slice(s[t], s[t + 1] - 1);
  }
  /** Rows whose id holds the text, the exact one first, at most `most`. */
  find(t, e) {
    return t === "" ? [] : this.bytes ? this.search(t, e) : this.numbers(t, e);
  }
  numbers(t, e) {
    const s = [];
    if (!/^\d+$/.test(t) || t.length > 1 && t.startsWith("0")) return s;
    for (let i = Number(t), n = 1; i < this.rows && s.length < e; i *= 10, n *= 10) {
      for (let r = i; r < i + n && r < this.rows && s.length < e; r++) s.push(r);
      if (i === 0) break;
    }
    return s;
  }
  search(t, e) {
    const { text: s, starts: i } = this.open(), n = [], r = this.exact(t, s, i);
    r >= 0 && n.push(r);
    for (let a = s.indexOf(t); a >= 0 && n.length < e; ) {
      const l = this.rowAt(a, i);
      l !== r && n.push(l), a = s.indexOf(t, i[l + 1]);
    }
    return n;
  }
  exact(t, e, s) {
    if (e === t || e.startsWith(`${t}
`)) return 0;
    const i = e.indexOf(`
${t}
`);
    return i >= 0 ? this.rowAt(i + 1, s) : e.endsWith(`
${t}`) ? this.rows - 1 : -1;
  }
  rowAt(t, e) {
    let [s, i] = [0, this.rows - 1];
    for (; s < i; ) {
      const n = s + i + 1 >> 1;
      e[n] <= t ? s = n : i = n - 1;
    }
    return s;
  }
}
let At = null;
function Ie(o, t) {
  At = o;
  try {
    return t();
  } finally {
    At = null;
  }
}
function T(o) {
  const t = (At ?? document).getElementById(o);
  if (!t) throw new Error(`the page has no #${o}`);
  return t;
}
function f(o, t = "", e) {
  const s = document.createElement(o);
  return t && (s.className = t), e !== void 0 && (s.textContent = e), s;
}
function L(o, t, e) {
  const s = f("button", o, t);
  return s.type = "button", s.addEventListener("click", e), s;
}
const Pe = "http://www.w3.org/2000/svg";
function Dt(o, t = {}) {
  const e = document.createElementNS(Pe, o);
  for (const [s, i] of Object.entries(t)) e.setAttribute(s, String(i));
  return e;
}
function ue(o) {
  const t = Dt("svg", { "aria-hidden": "true" });
  return t.append(Dt("use", { href: `#i-${o}` })), t;
}
function Ne(o, t) {
  const e = f("a");
  e.href = URL.createObjectURL(t), e.download = o, e.click(), setTimeout(() => URL.revokeObjectURL(e.href), 1e4);
}
function Be(o, t, e) {
  let s = !1;
  for (let i = 0, n = o.length - 1; i < o.length; n = i++) {
    const [r, a] = [o[i], o[n]];
    r.y > e != a.y > e && t < (a.x - r.x) * (e - r.y) / (a.y - r.y) + r.x && (s = !s);
  }
  return s;
}
const O = (o, t) => o.x < t.x + t.width && t.x < o.x + o.width && o.y < t.y + t.height && t.y < o.y + o.height;
function _e(o) {
  const t = o.length / 2;
  return { x0: o[0], y0: o[1], x1: o[t], y1: o[t + 1] };
}
function fe(o) {
  const t = { x0: 1 / 0, y0: 1 / 0, x1: -1 / 0, y1: -1 / 0 };
  for (const { x: e, y: s } of o)
    t.x0 = Math.min(t.x0, e), t.y0 = Math.min(t.y0, s), t.x1 = Math.max(t.x1, e), t.y1 = Math.max(t.y1, s);
  return t;
}
function De(o) {
  const { x0: t, y0: e, x1: s, y1: i } = fe(o);
  return (n, r) => n >= t && n <= s && r >= e && r <= i && Be(o, n, r);
}
function Fe(o) {
  const t = [...o].sort((i, n) => i.x - n.x || i.y - n.y);
  if (t.length < 3) return t;
  const e = (i, n, r) => (n.x - i.x) * (r.y - i.y) - (n.y - i.y) * (r.x - i.x), s = (i) => {
    const n = [];
    for (const r of i) {
      for (; n.length >= 2 && e(n[n.length - 2], n[n.length - 1], r) <= 0; ) n.pop();
      n.push(r);
    }
    return n.pop(), n;
  };
  return [...s(t), ...s(t.reverse())];
}
function Ue(o, t) {
  const e = [];
  for (const s of o) {
    const i = e[e.length - 1];
    (!i || Math.hypot(s.x - i.x, s.y - i.y) >= t) && e.push(s);
  }
  return e;
}
class je extends Error {
  constructor(t, e) {
    super(e), this.status = t;
  }
}
const Ft = 1e4;
async function ge(o, t = "GET", e) {
  const s = { accept: "application/json, application/octet-stream" };
  e !== void 0 && (s["content-type"] = "application/json");
  const i = await fetch(o, { method: t, headers: s, body: e === void 0 ? void 0 : JSON.stringify(e), cache: "no-store" });
  if (i.ok) return i;
  let n = `the server answered ${i.status}`;
  try {
    const r = await i.json();
    n = r.detail ?? r.error ?? n;
  } catch {
  }
  throw i.status === 403 && t !== "GET" && (n += "; a proxy before the server must forward the Host by which it was called"), new je(i.status, n);
}
const A = async (o, t, e) => (await ge(o, t, e)).json(), it = (o) => o === void 0 ? "" : `?version=${o}`, Ge = {
  /** What is said of the map; of a version before, if one is named. */
  map: (o) => A(`api/map${it(o)}`),
  columns: async (o) => pe(await (await ge(`api/map/columns${it(o)}`)).arrayBuffer()),
  /** The live points just before the event that switched to another version. */
  beforeSwitch: (o) => A(`api/map/switches/${o}`),
  update: () => A("api/map/update"),
  startUpdate: (o, t) => A("api/map/update", "POST", { ...o && { groups: o }, ...t && { who: t } }),
  cancelUpdate: () => A("api/map/update", "DELETE"),
  revert: (o) => A("api/map/revert", "POST", o ? { who: o } : {}),
  /** Gives a cluster or `group-N` a title; null takes it away. */
  rename: (o, t, e) => A(`api/clusters/${encodeURIComponent(o)}`, "PUT", { name: t, ...e && { who: e } }),
  notices: () => A("api/notices"),
  handle: (o, t, e) => A(`api/notices/${o}`, "POST", { state: t, ...e && { who: e } }),
  live: () => A("api/live"),
  row: (o) => A(`api/map/rows/${o}`),
  /** The columns for people of at most a thousand rows. */
  shown: (o) => A(`api/map/shown?rows=${o.join(",")}`),
  /** What the clusters of a version of the map are. */
  explained: (o) => A(`api/explain${it(o)}`),
  /** What rows of a version of the map and live points have in common, against the rest. */
  explain: (o, t, e) => A(`api/explain${it(e)}`, "POST", { rows: o, ids: t }),
  point: (o) => A(`api/points/${encodeURIComponent(o)}`),
  /** What changed from one stretch of time to a later one. */
  compare: ([o, t, e, s]) => A(`api/compare?a=${o},${t}&b=${e},${s}`),
  /** The events just before a number, oldest first. */
  before: (o, t = Ft) => A(`api/history?before=${o}&limit=${Math.min(t, Ft)}`),
  /** Listens to everything after an event. */
  listen(o, t) {
    const e = new EventSource(`api/events?after=${o}`);
    return e.onopen = t.open, e.onmessage = (s) => t.event(JSON.parse(s.data)), e.addEventListener("health", (s) => t.health(JSON.parse(s.data))), e.onerror = t.lost, () => e.close();
  }
};
let H = Ge;
const Ct = new Intl.NumberFormat("en"), D = (o, t) => `${Ct.format(o)} ${t}${o === 1 ? "" : "s"}`, F = (o) => Ct.format(o);
function ct(o) {
  if (o == null || !Number.isFinite(o)) return "–";
  const t = Math.abs(o);
  return t === 0 ? "0" : t >= 100 ? Ct.format(Math.round(o)) : t < 1e-3 ? o.toExponential(0) : String(Number(o.toPrecision(t < 1 ? 2 : 3)));
}
function Ut(o) {
  if (o == null || !Number.isFinite(o)) return "–";
  const t = o * 100;
  return `${t >= 10 || t === 0 ? Math.round(t) : Number(t.toPrecision(2))} %`;
}
function We(o) {
  return o > 1e8 ? new Date(o * 1e3).toLocaleTimeString("en-GB") : `${Number(o.toFixed(1))} s`;
}
const He = /[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\p{Cc}]/gu, Ve = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
function y(o) {
  const t = o.replace(He, "�");
  return Ve.test(t) ? `⁨${t}⁩` : t;
}
const Ye = (o) => o == null ? "no cluster" : y(o), qe = (o) => o != null && /^\d+$/.test(o) ? `cluster ${o}` : Ye(o), gt = 280, jt = 12, me = (o) => typeof o == "string" && /^https?:\/\/\S+$/i.test(o.trim()), dt = (o, t) => o.length > t ? `${o.slice(0, t - 1).trimEnd()}…` : o;
function Ke(o) {
  const t = o.filter(({ value: s }) => s !== null && s !== ""), e = t.find(({ kind: s, value: i }) => s === "text" && !me(i)) ?? null;
  return { title: e, rest: t.filter((s) => s !== e) };
}
const Xe = (o) => "kind" in o ? o : { name: o[0], kind: "text", value: o[1] };
function Je(o, t) {
  const { title: e, rest: s } = Ke(o.map(Xe));
  if (!e && s.length === 0) return null;
  const i = f("div", "shown");
  e && i.append(xe(String(e.value), "strong", t));
  for (const n of s) {
    const r = f("p");
    r.append(f("small", "", `${n.name} `), Ze(n, t)), i.append(r);
  }
  return i;
}
function Ze({ kind: o, value: t, name: e }, s) {
  if (o === "image") return Qe(String(t), e, s);
  if (me(t)) {
    const i = f("a", "", dt(t.trim(), 60));
    return i.href = t.trim(), i.target = "_blank", i.rel = "noopener noreferrer", i;
  }
  return xe(String(typeof t == "number" ? t : t ?? ""), "span", s);
}
function xe(o, t, e) {
  const s = f(t, "text", dt(o, gt));
  if (o.length <= gt) return s;
  const i = f("span"), n = L("more", "Show all", () => {
    const r = s.textContent === o;
    s.textContent = r ? dt(o, gt) : o, n.textContent = r ? "Show all" : "Show less", e();
  });
  return i.append(s, n), i;
}
function Qe(o, t, e) {
  const s = Uint8Array.from(atob(o), (l) => l.charCodeAt(0)), i = f("img");
  i.alt = t;
  const n = String.fromCharCode(...s.subarray(0, 100)).trimStart().startsWith("<"), r = URL.createObjectURL(new Blob([s], { type: n ? "image/svg+xml" : "" })), a = () => (URL.revokeObjectURL(r), e());
  return i.addEventListener("load", a), i.addEventListener("error", () => (a(), i.replaceWith(f("span", "", "an image that cannot be shown")))), i.src = r, i;
}
function ts(o) {
  if (!o || o.length === 0) return null;
  const t = f("dl", "values");
  for (const { name: s, value: i } of o.slice(0, jt)) t.append(f("dt", "", y(s)), f("dd", "", typeof i == "number" ? ct(i) : y(String(i ?? "–"))));
  const e = o.length - jt;
  return e > 0 && t.append(f("dt", "", `and ${e} more`), f("dd", "", "")), t;
}
function Gt(o, { width: t, height: e, channels: s }, i = "") {
  const n = f("canvas", i);
  n.width = t, n.height = e;
  const r = n.getContext("2d"), a = r.createImageData(t, e);
  return es(a.data, Uint8Array.from(atob(o), (l) => l.charCodeAt(0)), s), r.putImageData(a, 0, 0), n;
}
function es(o, t, e) {
  for (let s = 0; s * 4 < o.length; s++) {
    const i = s * e, n = e < 3;
    o[4 * s] = t[i], o[4 * s + 1] = t[n ? i : i + 1], o[4 * s + 2] = t[n ? i : i + 2], o[4 * s + 3] = e === 4 ? t[i + 3] : e === 2 ? t[i + 1] : 255;
  }
}
const ss = 90, is = 400;
function os(o) {
  switch (o.kind) {
    case "row":
      return `row ${o.row}`;
    case "gone":
      return `gone ${o.id} ${o.t}`;
    case "point":
      return `point ${o.point.id} ${o.point.t} ${o.point.x}`;
  }
}
class Wt {
  kept = /* @__PURE__ */ new Map();
  clear() {
    this.kept.clear();
  }
  get(t, e) {
    let s = this.kept.get(t);
    return s || (s = e(), s.catch(() => this.kept.delete(t)), this.kept.set(t, s), this.kept.size > is && this.kept.delete(this.kept.keys().next().value)), s;
  }
}
class ns {
  /** `clustered`: whether classes are clusters that points are in. `answers`: whether the server tells of the version that is shown. */
  constructor(t, e, s, i, n, r, a, l = H) {
    this.root = t, this.image = e, this.labels = s, this.title = i, this.clustered = n, this.answers = r, this.close = a, this.source = l;
  }
  key = "";
  timer = 0;
  rows = new Wt();
  points = new Wt();
  /** Another version of the map is shown: rows have other numbers. */
  forget() {
    this.rows.clear(), this.points.clear();
  }
  hide() {
    this.key = "", clearTimeout(this.timer), this.root.hidden = !0;
  }
  /** Shows the card of a target beside a place on a stage of the given size. One that is pinned has a button that closes it. */
  show(t, e, s, i, n, r = !1) {
    const a = os(t);
    a === this.key && !this.root.hidden && r === this.root.classList.contains("pinned") && e === this.at.x && s === this.at.y && i === this.at.width && n === this.at.height || (this.root.classList.toggle("pinned", r), a !== this.key && (this.key = a, this.fill(t, null), clearTimeout(this.timer), t.kind !== "gone" && this.answers() && (this.timer = window.setTimeout(() => void this.ask(t, a), ss))), this.root.hidden = !1, this.place(e, s, i, n), this.at = { x: e, y: s, width: i, height: n });
  }
  at = { x: 0, y: 0, width: 0, height: 0 };
  place(t, e, s, i) {
    const { offsetWidth: n, offsetHeight: r } = this.root, a = t + 18 + n < s - 8 ? t + 18 : Math.max(8, t - 18 - n), l = Math.min(Math.max(8, e - 30), Math.max(8, i - r - 8));
    this.root.style.transform = `translate(${Math.round(a)}px, ${Math.round(l)}px)`;
  }
  async ask(t, e) {
    try {
      const s = t.kind === "row" ? await this.row(t.row) : await this.points.get(e, () => this.source.point(t.point.id));
      if (this.key !== e) return;
      this.fill(t, s);
      const { x: i, y: n, width: r, height: a } = this.at;
      this.place(i, n, r, a), this.image && await this.neighbours(s.nearest, e);
    } catch {
    }
  }
  row(t) {
    return this.rows.get(String(t), () => this.source.row(t));
  }
  fill(t, e) {
    const s = f("div", "top"), i = f("div"), n = t.kind === "point" ? t.point.id : t.id;
    if (i.append(f("b", "", y(n)), f("span", "sub", { row: "row of the map", point: "live point", gone: "not on the map any more" }[t.kind])), t.kind === "point" && i.append(f("br"), f("span", `verdict ${t.point.verdict}`, t.point.verdict)), s.append(i), this.image && e?.picture) s.append(Gt(e.picture, this.image, "main"));
    else if (this.image && !e && t.kind !== "gone") {
      const d = f("canvas", "main");
      d.width = d.height = 1, s.append(d);
    }
    const r = L("close", "×", this.close);
    r.setAttribute("aria-label", "Close the card"), r.title = "Close (esc)";
    const a = () => this.root.hidden || this.place(this.at.x, this.at.y, this.at.width, this.at.height), l = e && "shown" in e ? Je(e.shown ?? [], a) : null, h = t.kind === "gone" ? this.gone(t) : this.facts(t, e);
    this.root.replaceChildren(...[s, l, h, r].filter((d) => d !== null));
    const c = e && !this.image ? ts(e.values ?? null) : null;
    c && this.root.append(f("h3", "", "Values"), c), e && e.nearest.length > 0 && this.root.append(f("h3", "", "Most like it"), this.nearest(e.nearest));
  }
  gone({ past: t, t: e }) {
    const s = e === null ? "It is gone" : `It was removed at ${We(e)}`, i = t.verdict === "outlier" ? "an outlier" : t.cluster === null ? "in no cluster" : `in ${qe(this.title(t.cluster))}`;
    return f("p", "gone", `${s}. This is where it was last, ${i}.`);
  }
  facts(t, e) {
    const s = f("dl"), i = (c, d) => {
      const u = f("dd");
      u.append(d), s.append(f("dt", "", c), u);
    };
    if (t.kind === "row") {
      const c = e && "label" in e ? e.label : null;
      return c !== null && i("label", y(c)), this.clustered() && (!this.labels || c === null) && i("cluster", y(t.cluster === null ? "none" : this.title(t.cluster))), s;
    }
    const { point: n } = t;
    n.label !== null && i("label", y(n.label));
    const r = e && "point" in e ? e.point : null;
    if (r?.predicted_label) {
      const c = f("span", "", `${y(r.predicted_label)}, ${Math.round(100 * (r.label_share ?? 0))} % sure`);
      c.title = "The label of most of its neighbours; of points that are so sure, this share is right", i("looks like", c);
    }
    n.verdict === "outlier" ? i("group", n.group === null ? "alone" : String(n.group)) : this.clustered() && i("landed in", y(n.cluster === null ? "no cluster" : this.title(n.cluster)));
    const a = f("span");
    a.title = "Share of the map's rows that are at least as strange";
    const l = f("span", n.score < 0.02 ? "meter low" : "meter"), h = f("i");
    return h.style.width = `${Math.round(Math.min(Math.max(n.score, 0), 1) * 100)}%`, l.append(h), a.append(l, ct(n.score)), i("score", a), e && "history" in e && e.history.length > 1 && i("events", `${e.history.length}${e.history.length >= 100 ? " or more" : ""}`), s;
  }
  nearest(t) {
    if (this.image) {
      const s = f("ul", "near");
      for (const { id: i, label: n } of t.slice(0, 5)) {
        const r = f("li"), a = f("canvas");
        a.width = a.height = 1, r.append(a, y(n ?? i)), s.append(r);
      }
      return s;
    }
    const e = f("ul", "rows");
    for (const { id: s, label: i, distance: n } of t.slice(0, 5)) {
      const r = f("li");
      r.append(f("span", "", y(s)), f("span", "label", y(i ?? "")), f("small", "", ct(n))), e.append(r);
    }
    return e;
  }
  /** The pictures of what it is most like, each put in place when it comes. */
  async neighbours(t, e) {
    const s = await Promise.all(t.slice(0, 5).map(({ number: n }) => this.row(n)));
    if (this.key !== e || !this.image) return;
    const i = this.root.querySelectorAll(".near canvas");
    s.forEach((n, r) => {
      n.picture && this.image && i[r]?.replaceWith(Gt(n.picture, this.image));
    });
  }
}
const pt = (o) => !("id" in o);
class rs {
  constructor(t, e, s, i, n, r, a) {
    this.stage = t, this.state = e, this.versions = s, this.look = i, this.selection = n, this.announce = r, this.card = new ns(T("card"), i.map.image, i.map.clusters_from === "labels", (l) => i.title(l), () => i.clustered, () => s.current, () => this.unpin(), a);
  }
  card;
  pinned = null;
  hovering = !1;
  /** Another version of the map is shown. */
  renew() {
    this.card.forget(), this.unpin(), this.card.hide();
  }
  /** Whether a card is pinned. */
  get holds() {
    return this.pinned !== null;
  }
  hover(t, e, s) {
    const { scene: i, camera: n } = this.stage, r = t && ("point" in t ? t.point : this.rowAt(t.row));
    (r?.x !== i.hover?.x || r?.y !== i.hover?.y || r?.z !== i.hover?.z || r?.id !== i.hover?.id) && (i.hover = r && { x: r.x, y: r.y, z: r.z, id: r.id }, this.stage.touch()), this.hovering = t !== null, t ? this.card.show(this.target(t), e, s, n.width, n.height) : this.pinned || this.card.hide();
  }
  // A card that stays, beside what it is about, until it is closed.
  pin(t) {
    this.pinned = t;
    const e = y(t.kind === "point" ? t.point.id : t.id);
    this.announce(t.kind === "point" ? `${e}, ${t.point.verdict}` : t.kind === "row" ? `${e}, row of the map` : `${e} is not on the map any more`);
  }
  unpin() {
    this.pinned = null, this.hovering || this.card.hide();
  }
  /** Once a frame: the pinned card stays beside what it is about, wherever that goes. */
  frame() {
    if (!this.pinned || this.hovering) return;
    const { camera: t } = this.stage;
    if (this.pinned.kind === "point") {
      const { point: n } = this.pinned, r = this.state.points.get(n.id);
      this.pinned = r ? { kind: "point", point: r } : { kind: "gone", id: n.id, past: n, t: null };
    }
    const { pinned: e } = this, s = e.kind === "row" ? this.rowAt(e.row) : e.kind === "gone" ? e.past : e.point, i = e.kind === "point" ? this.stage.screen(e.point) : t.toScreen(s.x, s.y, s.z);
    this.card.show(e, i.x, i.y, t.width, t.height, !0);
  }
  rowAt(t) {
    const { x: e, y: s, z: i } = this.versions.shown.columns;
    return { x: e[t], y: s[t], z: i?.[t] };
  }
  target(t) {
    if ("point" in t) return { kind: "point", point: t.point };
    const { row: e } = t;
    return { kind: "row", row: e, id: this.versions.shown.columns.ids.at(e), cluster: this.look.clusterOfRow(e) };
  }
  click(t, e) {
    const s = t === null ? this.stage.groupAt(e.x, e.y) : null;
    this.unpin(), s !== null ? this.goGroup(s) : t === null ? this.selection.clear() : ("point" in t ? this.selection.choose([t.point.id], []) : this.selection.choose([], [t.row]), this.pin(this.target(t)));
  }
  goPoint(t) {
    const e = this.state.points.get(t);
    if (!e) return this.announce(`${y(t)} is not on the map at this moment.`);
    this.stage.visit(e), this.pin({ kind: "point", point: e });
  }
  /** To where a point was last, that may have been removed at `t`. */
  goGone(t, e, s) {
    this.stage.visit({ x: e.x, y: e.y, z: e.z }), this.pin({ kind: "gone", id: t, past: e, t: s });
  }
  /** To a point that was compared, if it is there now; else to where it was then. */
  goCompared(t, e) {
    this.state.points.has(t.id) ? this.goFound({ id: t.id, row: null }) : this.goGone(t.id, t, e ? t.t : null);
  }
  goCluster(t) {
    const e = this.look.centre(t);
    e && this.stage.visit(e, 2);
  }
  goRow(t) {
    this.stage.visit(this.rowAt(t)), this.pin(this.target({ row: t }));
  }
  goFound(t) {
    t.row === null ? (this.selection.choose([t.id], []), this.goPoint(t.id)) : (this.selection.choose([], [t.row]), this.goRow(t.row));
  }
  /** To a group, with all its members selected. */
  goGroup(t) {
    return this.stage.visitGroup(t) ? (this.unpin(), this.selection.choose([...this.state.groups.get(t) ?? []], []), !0) : !1;
  }
  /** To the cluster that a new version has and the one before had not. */
  goBorn({ clusters: { born: t } }) {
    t.length > 0 && this.goCluster(t[0].name);
  }
  goAlarm({ group: t, x: e, y: s, z: i }) {
    t !== void 0 && this.goGroup(t) || e !== void 0 && s !== void 0 && this.stage.visit({ x: e, y: s, z: i }, 2.2);
  }
  /** To where an event happened, or to where its point is now. */
  go(t) {
    if (pt(t)) {
      if (t.kind === "map-updated") return this.goBorn(t);
      const s = "group" in t ? t.group : null;
      s !== null && !this.goGroup(s) && "x" in t && this.stage.visit(t), "cluster" in t && t.cluster !== null && this.goCluster(t.cluster);
      return;
    }
    if (this.state.points.has(t.id)) return this.goPoint(t.id);
    const e = t.kind === "removed";
    this.goGone(t.id, e ? t.from : t, e ? t.t : null);
  }
}
const ft = (o) => [o >> 16 & 255, o >> 8 & 255, o & 255], W = [
  4620211,
  16430890,
  10624104,
  1236650,
  6241477,
  14647162,
  8163863,
  11825658,
  8671250,
  11191545,
  13644405,
  4699642,
  8237581,
  11766988,
  8549434,
  15565802,
  11689120,
  13018736,
  3845288,
  14920394
].map(ft), X = ft(9080209), Et = ft(11120051), $ = ft(16726784), Rt = (o, t, e) => [0, 1, 2].map((s) => Math.round(o[s] + (t[s] - o[s]) * e)), w = (o, t = 1) => `rgb(${o.join(" ")} / ${t})`;
function as(o, t) {
  const e = (0.299 * o[0] + 0.587 * o[1] + 0.114 * o[2]) / 255;
  return t ? Rt(o, [255, 255, 255], Math.max(0, 0.48 - e) * 0.9) : o;
}
function ls(o) {
  if (o.length <= W.length) return o.map((s, i) => W[i]);
  const t = o.map((s, i) => i).sort((s, i) => o[i].rows - o[s].rows || s - i), e = o.map(() => X);
  return t.slice(0, W.length).forEach((s, i) => {
    e[s] = W[i];
  }), e;
}
const hs = [["base", "Base map"], ["placed", "Arrivals"], ["outliers", "Outliers"]];
class cs {
  constructor(t, e, s, i) {
    this.root = t, this.look = e, this.changed = s, this.rename = i;
    const { map: n } = e, r = f("h2", "", n.clusters_from === "labels" ? "Labels" : "Clusters");
    r.append(f("small", "", "live points")), this.all = L("all", "Show all", () => this.update(() => {
      e.hidden.clear(), e.off.clear();
    }));
    const a = f("ul");
    for (const [l, h] of hs) a.append(this.layer(l, h));
    this.makeBy(), t.replaceChildren(
      r,
      this.list,
      this.by,
      f("h2", "", "Shown"),
      a,
      this.all,
      f("p", "hint", "Click hides or shows. Double-click, or shift and click, leaves one alone.")
    ), this.fill();
  }
  entries = [];
  layers = [];
  list = f("ul");
  by = f("div", "by");
  all;
  /** The clusters of the overview that are open, by the largest of theirs. */
  opened = /* @__PURE__ */ new Set();
  /** Again from the names, when a new one came. */
  fill() {
    const { look: t } = this, e = new Set(t.merged.flatMap(({ clusters: i }) => i)), s = t.map.clusters.map(({ name: i }) => i).filter((i) => !e.has(i));
    t.by === "label" && s.push(...t.strangers), s.push(null), this.entries = [], this.list.replaceChildren(...t.merged.map((i) => i.clusters.length > 1 ? this.overview(i) : this.entry(i.clusters[0])), ...s.map((i) => this.entry(i))), this.list.classList.toggle("merged", t.merged.length > 0), this.update(() => {
    }, !1);
  }
  switch(t, e, s = !1) {
    const { made: i, small: n } = Vt(t, this.look.colour(e[0]));
    i.addEventListener("click", (l) => l.shiftKey ? this.only(e) : this.toggle(e)), i.addEventListener("dblclick", () => this.only(e));
    const r = (l) => () => {
      this.look.focus = l, this.changed(!0);
    };
    i.addEventListener("pointerenter", r(e)), i.addEventListener("pointerleave", r(void 0));
    const a = { button: i, small: n, names: e, part: s };
    return this.entries.push(a), a;
  }
  /** A cluster of the overview, which opens to show those that it is made of. */
  overview(t) {
    const { clusters: e } = t, s = this.look.mergedTitle(t), i = this.switch(s, e), n = f("ul", "parts");
    n.append(...e.map((h) => this.entry(h, !0)));
    const r = L("opener", "›", () => a(n.hidden));
    r.title = `The ${e.length} clusters of ${y(s)}`, r.setAttribute("aria-label", r.title);
    const a = (h) => {
      n.hidden = !h, r.setAttribute("aria-expanded", String(h)), h ? this.opened.add(e[0]) : this.opened.delete(e[0]);
    };
    a(this.opened.has(e[0]));
    const l = f("li");
    return l.append(i.button, r, n), l;
  }
  /** Shows where a cluster is in the legend, and marks it. */
  reveal(t) {
    for (const { button: r } of this.entries) r.classList.remove("told");
    const e = this.entries.find(({ names: r }) => r.length === 1 && r[0] === t);
    if (!e) return;
    const s = e.button.closest(".parts");
    s?.hidden && s.previousElementSibling.click(), e.button.classList.add("told");
    const { top: i, height: n } = this.root.getBoundingClientRect();
    this.root.scrollTop += e.button.getBoundingClientRect().top - i - n / 3;
  }
  entry(t, e = !1) {
    const s = this.look.by === "label" ? "no label" : this.look.clustered ? "no cluster" : "no value", i = t === null ? s : this.look.title(t), n = f("li");
    if (n.append(this.switch(i, [t], e).button), n.hidden = t === null, t !== null && this.look.centre(t)) {
      const r = L("pencil", "", () => this.rename(t, n));
      r.append(ue("pencil")), r.setAttribute("aria-label", `Rename ${y(i)}`), r.title = "Rename", n.append(r);
    }
    return n;
  }
  layer(t, e) {
    const { made: s, small: i, sample: n } = Vt(e, t === "outliers" ? $ : Et);
    t === "outliers" && (n.className = "diamond"), t === "placed" && (n.style.borderColor = "currentcolor"), s.addEventListener("click", () => this.update(() => this.look.off.delete(t) || this.look.off.add(t))), this.layers.push({ layer: t, button: s, small: i });
    const r = f("li");
    return r.append(s), r;
  }
  makeBy() {
    this.by.hidden = !0, this.by.setAttribute("role", "group"), this.by.setAttribute("aria-label", "Colour arrivals by");
    for (const t of ["cluster", "label"]) {
      const e = L("", t === "cluster" ? "Cluster" : "Label", () => {
        this.look.by = t, this.fill(), this.changed(!1);
      });
      e.title = t === "cluster" ? "Colour arrivals by the cluster they landed in" : "Colour arrivals by the label they came with", e.dataset.by = t, this.by.append(e);
    }
  }
  toggle(t) {
    const { hidden: e } = this.look, s = t.some((i) => !e.has(i));
    this.update(() => t.forEach((i) => s ? e.add(i) : e.delete(i)));
  }
  only(t) {
    const { hidden: e } = this.look, s = this.entries.flatMap((n) => n.names).filter((n) => !t.includes(n)), i = s.every((n) => e.has(n)) && !t.some((n) => e.has(n));
    this.update(() => {
      if (e.clear(), !i) for (const n of s) e.add(n);
    });
  }
  update(t, e = !0) {
    t();
    const { hidden: s, off: i, by: n } = this.look;
    for (const { button: r, names: a } of this.entries) {
      const l = a.filter((h) => !s.has(h)).length;
      r.setAttribute("aria-pressed", l === 0 ? "false" : l === a.length ? "true" : "mixed");
    }
    for (const { layer: r, button: a } of this.layers) a.setAttribute("aria-pressed", String(!i.has(r)));
    for (const r of this.by.children) r.setAttribute("aria-pressed", String(r.dataset.by === n));
    this.all.hidden = s.size === 0 && i.size === 0, e && this.changed(!0);
  }
  /** What is shown, for a picture of the map. */
  lines() {
    const t = this.entries.filter(({ button: i, names: n, part: r }) => !r && i.parentElement?.hidden === !1 && n.some((a) => !this.look.hidden.has(a))), e = (i, n, r, a) => ({ name: i.title, colour: r, count: n.textContent ?? "", diamond: a }), s = this.layers.filter(({ layer: i }) => i === "outliers" && !this.look.off.has(i));
    return [
      ...t.map(({ button: i, small: n, names: r }) => e(i, n, this.look.colour(r[0]), !1)),
      ...s.map(({ button: i, small: n }) => e(i, n, $, !0))
    ];
  }
  /** The counts, and which clusters are vanishing. */
  count(t) {
    const { look: e } = this, s = /* @__PURE__ */ new Map();
    let i = !1;
    for (const a of t.points.values()) {
      if (i ||= a.label !== null, a.verdict === "outlier" && e.by === "cluster") continue;
      const l = e.by === "label" ? a.label : a.cluster;
      s.set(l, (s.get(l) ?? 0) + 1);
    }
    this.by.hidden = !i && e.by === "cluster";
    for (const { button: a, small: l, names: h } of this.entries) {
      const c = h.some((u) => u !== null && t.vanishing.has(u));
      a.classList.toggle("vanishing", c && h.length === 1);
      const d = h.reduce((u, p) => u + (s.get(p) ?? 0), 0);
      Ht(l, c ? `${F(d)} ↓` : d === 0 ? "" : F(d)), a.parentElement.hidden = h[0] === null && d === 0 && !e.hidden.has(null);
    }
    const n = t.outliers, r = { base: e.map.rows, placed: t.points.size - n, outliers: n };
    for (const { layer: a, small: l } of this.layers) Ht(l, F(r[a]));
  }
}
function Ht(o, t) {
  o.textContent !== t && (o.textContent = t);
}
function Vt(o, t) {
  const e = f("button", "class");
  e.type = "button", e.title = y(o);
  const s = f("i");
  s.style.background = s.style.borderColor = w(t);
  const i = f("small");
  return e.append(s, f("span", "", y(o)), i), { made: e, small: i, sample: s };
}
class ds {
  constructor(t, e) {
    this.shown = t, this.state = e, this.restart();
  }
  /** By which of its two names a live point is coloured: that of the cluster it landed in, or its own label. */
  by = "cluster";
  /** Whether the classes are clusters or labels, that a live point is in one of; they are values of a column otherwise, which it has none of. */
  clustered = !0;
  hidden = /* @__PURE__ */ new Set();
  off = /* @__PURE__ */ new Set();
  /** Labels of live points that no cluster has. */
  strangers = [];
  /** The classes that stand out while their name is pointed at. */
  focus = void 0;
  /** The clusters that the overview takes together, where there are more of them than colours. */
  merged = [];
  /** Whether the paper is dark. */
  dark = !1;
  colours = /* @__PURE__ */ new Map();
  index = /* @__PURE__ */ new Map();
  /** Rows are in clusters that have nothing to do with those of before. */
  restart() {
    const { clusters: t } = this.map, e = ls(t);
    this.colours.clear(), this.hidden.clear(), t.forEach(({ name: s, colour: i }, n) => this.colours.set(s, i ?? e[n])), this.adopt();
  }
  /** What people call a cluster. */
  title(t) {
    return this.state.title(t);
  }
  get map() {
    return this.shown.info;
  }
  /** Another version of the map is shown: names that are known keep their colours, new ones get what is left. */
  adopt() {
    const { clusters: t } = this.map;
    for (const { name: e } of t) this.give(e);
    this.index = new Map(t.map(({ name: e }, s) => [e, s])), this.merged = this.merged.map(({ name: e, clusters: s }) => ({ name: e, clusters: s.filter((i) => this.index.has(i)) })).filter((e) => e.clusters.length > 0);
  }
  /** Clusters that the overview takes together have one colour, as they have one name there: else most of the map would be grey. That of the largest of them, if none has it already. */
  merge(t) {
    this.merged = t;
    const e = /* @__PURE__ */ new Set();
    for (const { clusters: s } of t) {
      const n = s.map((r) => this.colours.get(r)).find((r) => r && r !== X && !e.has(r)) ?? W.find((r) => !e.has(r)) ?? X;
      e.add(n);
      for (const r of s) this.colours.set(r, n);
    }
  }
  /** What a cluster of the overview is called. */
  mergedTitle({ name: t, clusters: e }) {
    const s = this.title(e[0]);
    return e.length === 1 ? s : t ?? `${s} and ${e.length - 1} more`;
  }
  /** Whether nothing is shown of a cluster of the overview. */
  hidesMerged(t) {
    return this.merged.some((e) => e.name === t && e.clusters.every((s) => this.hidden.has(s)));
  }
  give(t) {
    this.colours.has(t) || this.colours.set(t, W[this.colours.size] ?? X);
  }
  colour(t) {
    return as(t === null ? Et : this.colours.get(t) ?? X, this.dark);
  }
  classOf(t) {
    return this.by === "label" ? t.label : t.cluster;
  }
  /** A label seen for the first time gets the next colour that is left. True when it is new. */
  meet(t) {
    return t === null || this.colours.has(t) ? !1 : (this.give(t), this.strangers.push(t), !0);
  }
  /** The colour of a live point, or null if it is hidden. */
  of(t) {
    const e = t.verdict === "outlier";
    if (this.off.has(e ? "outliers" : "placed")) return null;
    const s = this.classOf(t), i = this.by === "label" && s !== null;
    return (!e || i) && this.hidden.has(s) ? null : e && !i ? $ : this.colour(s);
  }
  /** The looks of the base map's clusters, first that of the rows in none; of the version that is shown, or another. */
  base(t, { clusters: e } = this.map) {
    const s = (i) => ({
      colour: t.vanishing.has(i ?? "") ? Et : this.colour(i),
      shown: !this.off.has("base") && !this.hidden.has(i),
      strength: (this.focus === void 0 || this.focus.includes(i) ? 1 : 0.15) * (t.vanishing.has(i ?? "") ? 0.55 : 1)
    });
    return [s(null), ...e.map(({ name: i }) => s(i))];
  }
  showsRow(t) {
    return !this.off.has("base") && !this.hidden.has(this.clusterOfRow(t));
  }
  clusterOfRow(t) {
    const e = this.shown.columns.cluster[t];
    return e === 4294967295 ? null : this.map.clusters[e]?.name ?? null;
  }
  centre(t) {
    const e = this.index.get(t);
    return e === void 0 ? void 0 : this.map.clusters[e];
  }
}
const ps = 4e3;
function J({ buffer: o, byteOffset: t, byteLength: e }) {
  return o.slice(t, t + e);
}
const us = (o) => new Float32Array(J(o));
class fs {
  constructor(t) {
    this.model = t, this.on("msg:custom", (e) => {
      this.waiting.get(e.question)?.(e.detail), this.waiting.delete(e.question);
    });
  }
  heard = [];
  waiting = /* @__PURE__ */ new Map();
  asked = 0;
  on(t, e) {
    this.heard.push([t, e]), this.model.on(t, e);
  }
  tell(t, e) {
    this.model.set(t, e), this.model.save_changes();
  }
  ask(t) {
    const e = ++this.asked;
    return this.model.send({ question: e, ...t }), new Promise((s, i) => {
      this.waiting.set(e, s), setTimeout(() => {
        this.waiting.delete(e), i(new Error("the kernel gave no answer"));
      }, ps);
    });
  }
  row(t) {
    return this.ask({ row: t });
  }
  point(t) {
    return this.ask({ point: t });
  }
  close() {
    for (const [t, e] of this.heard) this.model.off(t, e);
    this.waiting.clear();
  }
}
const gs = ["exact", "interpolated", "beside-outlier", "outlier"];
function* ms(o, t) {
  const [e, s, i, n, r] = [o.x, o.y, o.score, o.group, o.nearest].map(t), a = o.z && t(o.z);
  for (let l = 0; l < o.ids.length; l++)
    yield { point: {
      id: o.ids[l],
      x: e[l],
      y: s[l],
      ...a && { z: a[l] },
      score: i[l],
      verdict: gs[o.verdict.getUint8(l)],
      group: n[l] < 0 ? null : n[l],
      label: o.labels?.[l] ?? null,
      cluster: null,
      t: 0
    }, nearest: r[l] };
}
const xs = 5;
class ws {
  constructor(t, e, s, i) {
    this.stage = t, this.button = e, this.turn = s, this.ways = i;
    const { canvas: n } = t;
    n.addEventListener("pointerdown", (r) => this.press(r)), n.addEventListener("pointermove", (r) => this.move(r)), n.addEventListener("pointerup", (r) => this.release(r)), n.addEventListener("pointercancel", (r) => this.release(r)), n.addEventListener("pointerleave", () => this.leave()), n.addEventListener("wheel", (r) => this.wheel(r), { passive: !1 }), n.addEventListener("dblclick", (r) => {
      const a = this.at(r);
      t.camera.zoomAt(2, a.x, a.y), t.view();
    }), n.addEventListener("contextmenu", (r) => this.space && r.preventDefault()), e.addEventListener("click", () => this.setLasso(!this.lassoOn)), s.addEventListener("click", () => this.toggleTurn()), s.hidden = this.hint.hidden = !this.space;
  }
  down = /* @__PURE__ */ new Map();
  start = null;
  path = null;
  resting = null;
  lassoOn = !1;
  /** Whether a drag turns a map in space; else it moves it. The right button does the other. */
  turning = !0;
  other = !1;
  hint = T("turn-hint");
  get space() {
    return this.stage.camera.turn.space;
  }
  toggleTurn() {
    this.turning = !this.turning, this.turn.setAttribute("aria-pressed", String(this.turning));
  }
  /** By a drag or by keys: turns a map in space, else moves it. */
  drag(t, e) {
    this.space && this.turning !== this.other ? (this.stage.orbit(t, e), this.hint.hidden = !0) : (this.stage.camera.pan(t, e), this.stage.view());
  }
  setLasso(t) {
    this.lassoOn = t, this.button.setAttribute("aria-pressed", String(t)), this.stage.canvas.classList.toggle("lasso", t), t || this.drop();
  }
  toggleLasso() {
    this.setLasso(!this.lassoOn);
  }
  get lassoing() {
    return this.lassoOn;
  }
  drop() {
    this.path = null, this.stage.scene.lasso = [], this.stage.touch();
  }
  at(t) {
    const { left: e, top: s } = this.stage.canvas.getBoundingClientRect();
    return { x: t.clientX - e, y: t.clientY - s };
  }
  press(t) {
    if (t.button !== 0 && !(t.button === 2 && this.space)) return;
    this.other = t.button === 2;
    const e = this.at(t);
    this.stage.canvas.setPointerCapture(t.pointerId), this.down.set(t.pointerId, e), this.start = e, this.stage.held = !0, this.leave(), this.down.size === 1 && !this.other && (this.lassoOn || t.shiftKey) ? this.path = [e] : this.stage.canvas.classList.add("dragging");
  }
  move(t) {
    const e = this.at(t), s = this.down.get(t.pointerId);
    if (!s) {
      t.pointerType !== "touch" && (this.resting = e);
      return;
    }
    if (this.down.set(t.pointerId, e), this.path) {
      this.path.push(e), this.stage.scene.lasso = this.path, this.stage.touch();
      return;
    }
    if (this.down.size !== 2) return this.drag(e.x - s.x, e.y - s.y);
    this.pinch(t.pointerId, s, e), this.stage.view();
  }
  pinch(t, e, s) {
    const [, i] = [...this.down].find(([r]) => r !== t), n = (r) => Math.max(Math.hypot(r.x - i.x, r.y - i.y), 1);
    this.stage.camera.pan((s.x - e.x) / 2, (s.y - e.y) / 2), this.stage.camera.zoomAt(n(s) / n(e), (s.x + i.x) / 2, (s.y + i.y) / 2);
  }
  release(t) {
    const e = this.at(t);
    if (!this.down.delete(t.pointerId)) return;
    this.stage.held = this.down.size > 0, this.stage.canvas.classList.remove("dragging");
    const s = this.path, i = this.other;
    this.other = !1;
    const n = this.start !== null && Math.hypot(e.x - this.start.x, e.y - this.start.y) < xs && (s?.length ?? 0) < 6;
    if (s && this.drop(), t.type === "pointercancel" || i) return;
    const r = n ? this.under(e) : null;
    r && "name" in r ? this.ways.name(r.name.id, r.name.rect) : r ? this.ways.click(r.picked, e) : s && s.length > 2 && (this.setLasso(!1), this.ways.lasso(s));
  }
  leave() {
    this.resting = null, this.ways.hover(null, 0, 0);
  }
  wheel(t) {
    t.preventDefault();
    const e = t.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1, s = this.at(t);
    this.stage.camera.zoomAt(Math.exp(-Math.min(Math.max(t.deltaY * e, -240), 240) / 340), s.x, s.y), this.stage.view();
  }
  /** A live point lies before words, and words before the rows of the map. */
  under({ x: t, y: e }) {
    const s = this.stage.pick(t, e), i = this.lassoOn || s && "point" in s ? void 0 : this.stage.named(t, e);
    return i ? { name: i } : { picked: s };
  }
  /** Once a frame: what is under the pointer now. */
  frame() {
    if (!this.resting || this.down.size > 0) return;
    const { x: t, y: e } = this.resting, s = this.under({ x: t, y: e }), i = "name" in s;
    this.stage.canvas.classList.toggle("naming", i), this.stage.canvas.title = i ? "Click to rename" : "";
    const n = i ? null : s.picked;
    this.stage.canvas.classList.toggle("pointing", (n !== null || this.stage.groupAt(t, e) !== null) && !this.lassoOn), this.ways.hover(n, t, e);
  }
}
class bs {
  /** In a legend, whose list of classes it replaces. */
  constructor(t) {
    this.legend = t, this.root.append(this.bar, this.ends, this.note);
    const e = t.querySelector("h2");
    e && (this.heading = e), e?.after(this.root);
  }
  root = f("div", "ramp");
  heading = f("h2");
  bar = f("i");
  ends = f("p");
  note = f("small");
  /** Shows the ramp, or the classes if there is none. */
  show(t, e) {
    if (this.heading.textContent = e, this.root.hidden = t === null, this.legend.classList.toggle("ramped", t !== null), !t) return;
    const { colours: s, low: i, high: n, note: r } = t;
    this.bar.style.background = `linear-gradient(90deg, ${s.filter((a, l) => l % 8 === 0 || l === s.length - 1).map((a) => w(a)).join(", ")})`, this.ends.replaceChildren(f("span", "", i), f("span", "", n)), this.note.textContent = `${r}; grey: no value`;
  }
}
function ys(o, t) {
  let e = `${o.map(Yt).join(",")}\r
`;
  for (const s of t) e += `${s.map(Yt).join(",")}\r
`;
  return e;
}
function Yt(o) {
  if (o === null) return "";
  if (typeof o == "number") return String(o);
  const t = /^[=+\-@\t\r]/.test(o) && !Number.isFinite(Number(o)) ? `'${o}` : o;
  return /[",\r\n]/.test(t) ? `"${t.replaceAll('"', '""')}"` : t;
}
const Tt = (o) => `${o > 0 && o < 0.1 ? (100 * o).toFixed(1) : Math.round(100 * o)} %`, vs = (o) => new Date(Math.round(o) * 864e5).toISOString().slice(0, 10);
function ks(o) {
  const t = Math.abs(o);
  return t >= 1e4 ? F(Math.round(o)) : t >= 1e3 ? String(Math.round(o)) : t > 0 && t < 1e-3 ? o.toExponential(2) : String(Number(o.toPrecision(3)));
}
function Ms({ kind: o, value: t, inside: e, outside: s }) {
  const i = (n) => n === null ? "–" : { number: ks, date: vs, category: Tt }[o](n);
  return `${t === null ? "" : `${y(t)}: `}${i(e)} against ${i(s)}`;
}
const zs = ({ effect: o, error: t }) => `${o < 0 ? "−" : "+"}${Math.abs(o).toFixed(2)} ± ${t.toFixed(2)}`;
class Ss {
  root = f("section", "summary");
  asked = 0;
  constructor() {
    this.root.setAttribute("aria-label", "What the selection has in common"), this.root.hidden = !0;
  }
  /** Asks what these have in common; of one point, or of the whole map, there is nothing to tell. */
  show(t, e, { rows: s, version: i, recording: n }) {
    const r = ++this.asked, a = t.length + e.length;
    if (this.root.hidden = a < 2 || t.length === s || !!n, this.root.hidden) return;
    const l = f("h3", "", `What sets these ${D(a, "point")} apart from the other ${D(s - t.length, "row")} of the map`), h = f("p", "faint", "Comparing…");
    this.root.replaceChildren(l, h), H.explain(t, e, i).then((c) => this.parts(c), (c) => [f("p", "faint", y(c.message))]).then((c) => {
      r === this.asked && this.root.replaceChildren(l, ...c);
    });
  }
  parts({ columns: t, keyword_shares: e }) {
    const s = [];
    if (e.length > 0) {
      const i = f("p", "keywords");
      for (const { word: n, share: r, share_outside: a } of e) {
        const l = f("span", "", y(n));
        l.title = `in ${Tt(r)} of these texts, ${Tt(a)} of the others`, i.append(l);
      }
      s.push(i);
    }
    if (t.length > 0) {
      const i = f("dl", "effects");
      for (const n of t) {
        const r = f("dd", "effect", zs(n));
        r.title = `${n.effect < 0 ? "lower" : "higher"} by ${Math.abs(n.effect).toFixed(2)} standard deviations of all rows, and its standard error`, i.append(f("dt", "", y(n.column)), f("dd", "", Ms(n)), r);
      }
      s.push(i);
    }
    return s.length > 0 ? s : [f("p", "faint", "Nothing that the map knows sets them apart.")];
  }
}
const q = 200, qt = 1e3, As = ["source", "id", "label", "cluster", "verdict", "score", "group", "x", "y", "z", "t"];
class Es {
  constructor(t, e, s, i, n, r) {
    this.root = t, this.tab = e, this.state = s, this.shown = i, this.look = n, this.ways = r;
    const a = L("first", "CSV", () => void this.save());
    a.title = "Save the selection as CSV", this.bar.append(this.sum, a, L("", "Clear", () => this.clear()));
    const l = this.table.createTHead().insertRow();
    for (const h of ["id", "label", "cluster", "verdict", "score", ...this.columns]) {
      const c = f("th", "", h);
      c.scope = "col", l.append(c);
    }
    this.body = this.table.createTBody(), this.columns.length > 0 && (this.table.style.minWidth = `${400 + 130 * this.columns.length}px`), this.show();
  }
  ids = /* @__PURE__ */ new Set();
  rows = [];
  bar = f("div", "bar");
  sum = f("b");
  table = f("table");
  body;
  rest = f("p", "none");
  summary = new Ss();
  /** The lines of the table by what they are about. */
  lines = /* @__PURE__ */ new Map();
  /** The columns that the map keeps for people; images have no place in a table. */
  get columns() {
    return (this.look.map.shown ?? []).filter(({ kind: t }) => t !== "image").map(({ name: t }) => t);
  }
  /** Whether the clusters of the map's rows are their labels. */
  get labelled() {
    return this.look.map.clusters_from === "labels";
  }
  get size() {
    return this.ids.size + this.rows.length;
  }
  /** Takes everything shown within a polygon of the plane that is looked at: `rows` of the map, and live points where they are drawn. */
  lasso(t, { x: e, y: s, rows: i }, n) {
    const r = De(t);
    this.ids.clear(), this.rows = [];
    for (const a of this.state.points.values()) {
      const l = n(a);
      r(l.x, l.y) && this.look.of(a) && this.ids.add(a.id);
    }
    for (let a = 0; a < i; a++)
      r(e[a], s[a]) && this.look.showsRow(a) && this.rows.push(a);
    this.changed();
  }
  /** Another version of the map is shown: its rows have other numbers. */
  renumber(t) {
    this.rows = this.rows.map(t).filter((e) => e >= 0), this.show();
  }
  choose(t, e) {
    this.ids.clear();
    for (const s of t) this.ids.add(s);
    this.rows = e, this.changed();
  }
  clear() {
    this.size > 0 && this.choose([], []);
  }
  changed() {
    this.show(), this.ways.changed();
  }
  /** The selected points that are there at this moment. */
  points() {
    return [...this.ids].map((t) => this.state.points.get(t)).filter((t) => t !== void 0);
  }
  /** Brings the table up to date. Lines that stay are the same elements, so that who reads or stands on one is not disturbed. */
  refresh() {
    const t = this.points(), e = t.length + this.rows.length;
    if (G(this.tab, this.size > 0 ? `Selection (${F(e)})` : "Selection"), this.root.hidden || this.size === 0) return;
    const s = [this.ids.size > 0 ? `${F(t.length)} live` : "", this.rows.length > 0 ? D(this.rows.length, "map row") : ""];
    G(this.sum, s.filter(Boolean).join(", ")), this.fill(t);
    const i = e - q, n = this.ids.size - t.length, r = [n > 0 ? `${D(n, "selected point")} ${n === 1 ? "is" : "are"} not on the map now.` : "", i > 0 ? `${D(i, "more row")} in the CSV.` : ""];
    G(this.rest, r.filter(Boolean).join(" "));
  }
  show() {
    this.lines.clear(), this.body.replaceChildren(), this.size === 0 ? this.root.replaceChildren(f("p", "none", "Nothing is selected. Draw around points with the lasso (l, or shift and drag), click one, or find its id.")) : this.root.replaceChildren(this.bar, this.summary.root, this.table, this.rest), this.refresh(), this.summary.show(this.rows, this.points().map(({ id: t }) => t), this.shown.info);
  }
  /** Lines for these points and the rows of the map, each made once. */
  fill(t) {
    const e = /* @__PURE__ */ new Map();
    for (const i of t.slice(0, q)) e.set(`point ${i.id}`, () => this.pointLine(i.id));
    for (const i of this.rows.slice(0, Math.max(0, q - t.length))) e.set(`row ${i}`, () => this.rowLine(i));
    for (const [i, n] of this.lines)
      e.has(i) || (n.remove(), this.lines.delete(i));
    let s = null;
    for (const [i, n] of e) {
      const r = this.lines.get(i) ?? n();
      this.lines.set(i, r);
      const a = s ? s.nextElementSibling : this.body.firstElementChild;
      a !== r && this.body.insertBefore(r, a), s = r;
    }
    this.fillShown();
    for (const { id: i, label: n, cluster: r, verdict: a, score: l } of t.slice(0, q)) {
      const { cells: h } = this.lines.get(`point ${i}`);
      [y(n ?? "–"), y(r === null ? "–" : this.look.title(r)), a, ct(l)].forEach((c, d) => G(h[d + 1], c)), h[3].className = a;
    }
  }
  pointLine(t) {
    return Kt("", L("", y(t), () => this.ways.goPoint(t)), ["", "", "", "", ...this.columns.map(() => "")]);
  }
  rowLine(t) {
    const e = this.look.clusterOfRow(t), s = e === null ? "–" : y(this.look.title(e)), i = L("", y(this.shown.columns.ids.at(t)), () => this.ways.goRow(t)), n = Kt("base", i, [this.labelled ? y(e ?? "–") : "–", s, "map row", "–", ...this.columns.map(() => "")]);
    return n.cells.length > 5 && (n.cells[5].dataset.asked = ""), n;
  }
  /** Hands out the selection, with the columns for people where the server has them. */
  async save() {
    Ne("lion-selection.csv", new Blob([this.csv(await this.shownOf(this.rows))], { type: "text/csv" }));
  }
  /** The columns for people of rows of the map, by row; none where nobody can tell. */
  async shownOf(t) {
    const e = /* @__PURE__ */ new Map();
    if (this.columns.length === 0) return e;
    for (let s = 0; s < t.length; s += qt) {
      const i = t.slice(s, s + qt), n = await H.shown(i).catch(() => null), r = this.columns.map((a) => n?.columns.indexOf(a) ?? -1);
      i.forEach((a, l) => e.set(a, r.map((h) => n?.rows[l]?.[h] ?? null)));
    }
    return e;
  }
  /** Fills in the columns for people of the lines that have none yet. */
  async fillShown() {
    const t = this.rows.slice(0, q).filter((e) => this.lines.get(`row ${e}`)?.cells[5]?.dataset.asked === "");
    if (!(this.columns.length === 0 || t.length === 0)) {
      for (const e of t) delete this.lines.get(`row ${e}`)?.cells[5].dataset.asked;
      for (const [e, s] of await this.shownOf(t)) {
        const i = this.lines.get(`row ${e}`)?.cells;
        s.forEach((n, r) => i?.[r + 5] && G(i[r + 5], dt(String(n ?? ""), 120)));
      }
    }
  }
  csv(t = /* @__PURE__ */ new Map()) {
    const { look: e, labelled: s, shown: { columns: i } } = this, n = this.columns, r = n.map(() => null), a = i.z !== null, l = this.points(), h = this.rows;
    function* c() {
      for (const d of l) yield ["live", d.id, d.label, d.cluster, d.verdict, d.score, d.group, d.x, d.y, ...a ? [d.z ?? null] : [], d.t, ...r];
      for (const d of h) {
        const u = e.clusterOfRow(d);
        yield ["map", i.ids.at(d), s ? u : null, u, null, null, null, i.x[d], i.y[d], ...i.z ? [i.z[d]] : [], null, ...t.get(d) ?? r];
      }
    }
    return ys([...As.filter((d) => a || d !== "z"), ...n], c());
  }
}
function G(o, t) {
  o.textContent !== t && (o.textContent = t), o instanceof HTMLTableCellElement && o.title !== t && (o.title = t);
}
function Kt(o, t, e) {
  const s = f("tr", o);
  t.title = t.textContent ?? "", s.insertCell().append(t);
  for (const i of e) G(s.insertCell(), i);
  return s;
}
const Ts = `<svg class="sprite" aria-hidden="true">
  <symbol id="i-dot" viewBox="0 0 16 16"><circle cx="8" cy="8" r="4.5" fill="currentColor"/></symbol>
  <symbol id="i-stay" viewBox="0 0 16 16"><circle cx="8" cy="8" r="5" fill="none" stroke="currentColor" stroke-width="1.6"/><circle cx="8" cy="8" r="1.8" fill="currentColor"/></symbol>
  <symbol id="i-move" viewBox="0 0 16 16"><path d="M2.5 11.5c2-5 5-6 9.5-5.5M9 3l3.5 3L9 9.5" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round"/></symbol>
  <symbol id="i-change" viewBox="0 0 16 16"><path d="M2.5 5.5h9M9 2.5l3 3-3 3M13.5 11h-9M7 8l-3 3 3 3" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"/></symbol>
  <symbol id="i-outlier" viewBox="0 0 16 16"><path d="M8 4.8L11.2 8 8 11.2 4.8 8z" fill="currentColor"/><circle cx="8" cy="8" r="6.3" fill="none" stroke="currentColor" stroke-width="1.5"/></symbol>
  <symbol id="i-group" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.3" fill="none" stroke="currentColor" stroke-width="1.4" stroke-dasharray="2.6 2"/><path d="M6 5l1.8 1.8L6 8.6 4.2 6.8zM10 7.5l1.8 1.8L10 11.1 8.2 9.3z" fill="currentColor"/></symbol>
  <symbol id="i-return" viewBox="0 0 16 16"><path d="M13 12.5c0-4-2-6-9.5-6M6.5 3L3 6.5 6.5 10" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round"/></symbol>
  <symbol id="i-gone" viewBox="0 0 16 16"><path d="M4 4l8 8M12 4l-8 8" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round"/></symbol>
  <symbol id="i-forming" viewBox="0 0 16 16"><path d="M8 .8l1.7 4.5L14.5 7 9.7 8.7 8 13.2 6.3 8.7 1.5 7l4.8-1.7z" fill="currentColor"/></symbol>
  <symbol id="i-vanishing" viewBox="0 0 16 16"><circle cx="8" cy="8" r="5.8" fill="none" stroke="currentColor" stroke-width="1.6" stroke-dasharray="3 2.4"/><path d="M8 5v5.2M5.8 8.2L8 10.5l2.2-2.3" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"/></symbol>
  <symbol id="i-stale" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M8 4.5V8l2.5 1.8" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"/></symbol>
  <symbol id="i-map" viewBox="0 0 16 16"><path d="M2 4l4-1.8 4 1.8 4-1.8v9.8l-4 1.8-4-1.8L2 13.8zM6 2.4v9.4M10 4.2v9.4" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linejoin="round"/></symbol>
  <symbol id="i-pencil" viewBox="0 0 16 16"><path d="M3 13l.7-3 7-7 2.3 2.3-7 7zM9.3 4.4l2.3 2.3" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linejoin="round"/></symbol>
  <symbol id="i-play" viewBox="0 0 16 16"><path d="M4.5 2.5v11l9-5.5z" fill="currentColor"/></symbol>
  <symbol id="i-pause" viewBox="0 0 16 16"><path d="M4 3h3v10H4zM9 3h3v10H9z" fill="currentColor"/></symbol>
  <symbol id="i-compare" viewBox="0 0 16 16"><path d="M1.8 4.5h5v7h-5z" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M9 3.8h5.8v8.5H9z" fill="currentColor"/></symbol>
  <symbol id="i-back" viewBox="0 0 16 16"><path d="M12.5 2.5v11L5 8zM3 3h1.8v10H3z" fill="currentColor"/></symbol>
  <symbol id="i-on" viewBox="0 0 16 16"><path d="M3.5 2.5v11L11 8zM11.2 3H13v10h-1.8z" fill="currentColor"/></symbol>
  <symbol id="i-lasso" viewBox="0 0 16 16"><path d="M3.3 10.2C.6 7.5 3 2.8 8 2.8s7.4 4 4.7 6.7c-2.2 2.2-6.6 2.2-8.4 1M4.3 10.5c1.2 1.2-.2 2.6-1.3 3" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="2.6 1.6" stroke-linecap="round"/></symbol>
  <symbol id="i-turn" viewBox="0 0 16 16"><ellipse cx="8" cy="8" rx="6.3" ry="2.6" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M8 1.7v12.6M5.5 12.2L8 14.3l2.5-2.1" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"/></symbol>
  <symbol id="i-fit" viewBox="0 0 16 16"><path d="M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"/></symbol>
  <symbol id="i-moon" viewBox="0 0 16 16"><path d="M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3z" fill="currentColor"/></symbol>
  <symbol id="i-sun" viewBox="0 0 16 16"><circle cx="8" cy="8" r="3" fill="currentColor"/><path d="M8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.5 1.5M11.5 11.5L13 13M13 3l-1.5 1.5M4.5 11.5L3 13" stroke="currentColor" stroke-width="1.5" stroke-linecap="round"/></symbol>
  <symbol id="i-camera" viewBox="0 0 16 16"><path d="M8 2v7M5 6.5L8 9.5l3-3M2.5 10.5v3h11v-3" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"/></symbol>
</svg>
`;
function Xt(o, t = !1) {
  return o.getContext("webgl2", { antialias: !1, alpha: !0, premultipliedAlpha: !0, preserveDrawingBuffer: t });
}
function we(o, t, e) {
  const s = o.createProgram();
  for (const [i, n] of [[o.VERTEX_SHADER, t], [o.FRAGMENT_SHADER, e]]) {
    const r = o.createShader(i);
    o.shaderSource(r, `#version 300 es
precision highp float;
precision highp int;
${n}`), o.compileShader(r), o.attachShader(s, r);
  }
  if (o.linkProgram(s), !o.getProgramParameter(s, o.LINK_STATUS) && !o.isContextLost())
    throw new Error(`The map's shaders were refused: ${o.getProgramInfoLog(s) ?? "no reason given"}`);
  return s;
}
function be(o, t) {
  const e = /* @__PURE__ */ new Map();
  return (s) => (e.has(s) || e.set(s, o.getUniformLocation(t, s)), e.get(s) ?? null);
}
function ye(o) {
  o.clearColor(0, 0, 0, 0), o.clear(o.COLOR_BUFFER_BIT | o.DEPTH_BUFFER_BIT);
}
const ve = `
uniform vec2 centre, scale;
uniform mat3 turn;
uniform vec3 middle;
uniform float deep;
uniform mat3 likeness;
uniform vec3 offset;
uniform float rigid, rest;
// On the way from another version of the map, see morph.ts.
vec3 between(vec3 was, vec3 is) {
  return mix(mix(was, likeness * was + offset, rigid), is, rest);
}
vec3 seen(vec3 place) {
  vec3 at = turn * (place - middle);
  return vec3((at.xy + middle.xy - centre) * scale, -at.z * deep);
}`;
function ke(o, t, e) {
  o.viewport(0, 0, o.drawingBufferWidth, o.drawingBufferHeight), o.enable(o.BLEND), o.blendFunc(o.ONE, o.ONE_MINUS_SRC_ALPHA), o.uniform2f(e("centre"), t.x, t.y);
  const { space: s, axes: i, middle: n, reach: r } = t.turn;
  o.uniformMatrix3fv(e("turn"), !0, i), o.uniform3f(e("middle"), n[0], n[1], n[2]), o.uniform1f(e("deep"), s ? 0.5 / r : 0), o.uniform2f(e("scale"), 2 * t.scale / t.width, 2 * t.scale / t.height);
}
function Me(o, t, e) {
  if (o.uniform1f(e("morphing"), t ? 1 : 0), !t) return;
  const { similarity: { matrix: s, offset: i } } = t.origin;
  o.uniformMatrix3fv(e("likeness"), !0, s), o.uniform3f(e("offset"), ...i), o.uniform1f(e("rigid"), t.stages.rigid), o.uniform1f(e("rest"), t.stages.rest), o.uniform1f(e("grown"), t.stages.grown);
}
const $s = (o, t, e, s) => {
  o.width = Math.max(1, Math.round(t * s)), o.height = Math.max(1, Math.round(e * s));
};
function ze(o, t, e) {
  const { canvas: s } = o;
  s.addEventListener("webglcontextlost", (i) => i.preventDefault()), s.addEventListener("webglcontextrestored", () => {
    t(), e();
  }), t();
}
const Jt = Math.PI * (3 - Math.sqrt(5)), st = { most: 1.3, least: 0.65 }, Ls = 5e3;
function I(o, t) {
  const e = Math.min(Math.max(Math.min(o.width, o.height) / 640, 0.8), 1.35), s = Math.min(1, 4e3 / Math.max(t, 1)) ** 0.18;
  return Math.min(3.9 * e * s * Math.max(o.zoom, 1) ** 0.22, 9);
}
const V = { x: 0, y: 0, room: 0, dx: 0, dy: 0, dz: 0 };
function Cs(o) {
  const t = Math.sqrt(o + 0.5);
  return { x: t * Math.cos(o * Jt), y: t * Math.sin(o * Jt) };
}
function $t(o, t, e) {
  return Math.min(Math.max(o * t, st.least * e), st.most * e);
}
const Rs = (o, t) => Math.min(Math.max(o / (1.15 * t), 0.55), 1);
class Os {
  constructor(t, e, s) {
    this.state = t, this.plane = e, this.nearestRow = s;
  }
  seeds = /* @__PURE__ */ new Map();
  dirty = /* @__PURE__ */ new Set();
  rooms = /* @__PURE__ */ new Map();
  known = "";
  of(t) {
    return this.seeds.get(t) ?? V;
  }
  /** A group gained or lost a member. */
  touch(t) {
    t != null && this.dirty.add(t);
  }
  left(t) {
    this.seeds.delete(t);
  }
  /** All points are drawn anew. */
  clear() {
    this.seeds.clear(), this.touchAll();
  }
  touchAll() {
    this.known = "";
    for (const t of this.state.groups.keys()) this.dirty.add(t);
  }
  /** Where a point is drawn. */
  screen(t, e) {
    const s = this.of(t.id), i = e.toScreen(t.x + s.dx, t.y + s.dy, (t.z ?? 0) + s.dz);
    if (s.room === 0) return i;
    const n = $t(s.room, e.scale, I(e, this.state.points.size));
    return { x: i.x + s.x * n, y: i.y + s.y * n };
  }
  /** Pixels from the middle of a group to its outermost member. */
  reach(t, e) {
    const s = this.state.groups.get(t)?.size ?? 1;
    return s < 2 ? 0 : Math.sqrt(s) * $t(this.roomOfEach(t, s), e.scale, I(e, this.state.points.size));
  }
  /** How near one must be for the members to have all the room they want, in pixels per unit of the map. */
  scaleFor(t, e) {
    const s = this.state.groups.get(t)?.size ?? 1;
    return st.most * I(e, this.state.points.size) / Math.max(this.roomOfEach(t, s), 1e-9);
  }
  roomOfEach(t, e) {
    return (this.rooms.get(t) ?? 0) / Math.sqrt(e);
  }
  /** Once a frame: gives seeds to the members that have new ones, and tells of each. */
  settle(t) {
    const { state: e, dirty: s } = this;
    if (s.size === 0) return;
    const i = [...e.groups].map(([n, { size: r }]) => `${n} ${r < 2 ? 1 : Math.floor(Math.log2(r) * 2)}`).join();
    i !== this.known && (this.known = i, this.measure());
    for (const n of s) {
      const r = e.groups.get(n);
      let a = 0;
      if (!r) continue;
      const [l] = r, h = e.points.get(l), c = this.roomOfEach(n, r.size);
      for (const d of r) {
        const u = e.points.get(d), p = r.size < 2 ? V : { ...Cs(a++), room: c, dx: h.x - u.x, dy: h.y - u.y, dz: (h.z ?? 0) - (u.z ?? 0) }, g = this.of(d);
        ["x", "y", "room", "dx", "dy", "dz"].every((m) => g[m] === p[m]) || (this.seeds.set(d, p), t(d, p));
      }
    }
    s.clear();
  }
  // The room of each group: to the nearest row of the map, and its share of the way to the nearest other group.
  measure() {
    const { state: t } = this, e = [];
    for (const [s, i] of t.groups) {
      const [n] = i, r = t.points.get(n);
      if (r && e.push({ group: s, ...this.plane(r), weight: Math.sqrt(i.size) }), e.length >= Ls) break;
    }
    e.sort((s, i) => s.x - i.x), e.forEach((s, i) => {
      if (s.weight === 1) return;
      let n = 0.9 * this.nearestRow(s);
      for (const r of [-1, 1])
        for (let a = i + r; a >= 0 && a < e.length && Math.abs(e[a].x - s.x) < n; a += r) {
          const l = Math.hypot(e[a].x - s.x, e[a].y - s.y);
          n = Math.min(n, 0.8 * l * s.weight / (s.weight + e[a].weight));
        }
      this.rooms.get(s.group) !== n && (this.rooms.set(s.group, n), this.dirty.add(s.group));
    });
  }
}
const C = 1.2, at = 25, lt = 0, Is = 1, ut = 2, Ot = 3, Se = 4, ht = 14, N = 4 * ht, Zt = 6, mt = 7, xt = N - 4, Ps = `${ve}
in vec3 place, origin, seed, shift;
in float birth;
in vec4 look;
uniform float now, radius, motion, glow, zoom, morphing;
uniform vec2 screen;
out vec3 shade;
out float size, age, kind, reach;
void main() {
  shade = look.rgb;
  kind = floor(look.a * 255.0 + 0.5);
  age = max(now - birth, 0.0);
  float way = motion > 0.5 ? clamp(age / 0.9, 0.0, 1.0) : 1.0;
  way = way * way * (3.0 - 2.0 * way);
  vec3 here = morphing > 0.5 ? between(origin, place) : mix(origin, place, way);
  float young = exp(-age / 9.0);
  // Members of a group stand beside each other, as far as there is room; crowded ones are smaller.
  float gap = clamp(seed.z * zoom, ${st.least.toFixed(2)} * radius, ${st.most.toFixed(2)} * radius);
  float member = seed.z > 0.0 ? 1.0 : 0.0;
  float crowd = mix(1.0, clamp(gap / (1.15 * radius), 0.55, 1.0), member);
  vec2 aside = member * way * gap * vec2(seed.x, -seed.y) * 2.0 / screen;
  vec3 at = seen(here + member * way * shift);
  // In space the nearer ones are larger, and none is too small to be seen.
  reach = radius * (1.0 - 0.3 * at.z) * crowd * (0.88 + mix(0.6, 0.25, member) * young);
  float pulse = motion > 0.5 && glow > 0.3 && age < ${C} ? 1.0 : 0.0;
  float extent = reach + 2.0 + max(max(kind == ${ut}.0 ? reach * 1.5 + 2.0 : 0.0, reach * 2.2 * young * step(0.02, young * glow)), pulse * 5.0 * radius);
  // What is hidden or gone goes where nothing is drawn.
  bool gone = kind == ${lt}.0 || (kind == ${Ot}.0 && age > ${C});
  gl_Position = gone ? vec4(2.0, 2.0, 2.0, 1.0) : vec4(at.xy + aside, at.z, 1.0);
  size = 2.0 * extent;
  gl_PointSize = size;
}`, Ns = `
in vec3 shade;
in float size, age, kind, reach;
uniform float radius, motion, glow, pixel;
uniform vec3 paper, ink, warning;
out vec4 colour;

// Paint of some colour and cover over what is there; premultiplied.
vec4 over(vec4 below, vec3 rgb, float alpha) {
  return vec4(rgb * alpha, alpha) + below * (1.0 - alpha);
}
float band(float distance, float at, float width) {
  return clamp(0.5 * width + 0.5 - abs(distance - at), 0.0, 1.0);
}
void main() {
  vec2 at = size * (gl_PointCoord - 0.5);
  float far = length(at);
  float young = exp(-age / 9.0);
  bool outlying = kind == ${ut}.0 || kind == ${Se}.0;
  vec3 own = outlying ? shade : mix(shade, paper, 0.22 * (1.0 - young));
  vec4 sum = vec4(0.0);
  float halo = glow * young * 0.5 * pow(clamp(1.0 - far / (reach + 2.0 + 2.2 * reach * young), 0.0, 1.0), 2.0);
  sum = over(sum, own, halo);
  if (motion > 0.5 && glow > 0.3 && age < ${C}) {
    float share = age / ${C};
    sum = over(sum, own, (1.0 - share) * 0.9 * glow * band(far, mix(radius, radius * 5.5, 1.0 - pow(1.0 - share, 2.0)), 2.0 * pixel));
  }
  if (kind == ${ut}.0) {
    float ring = reach * 2.1 + pixel;
    sum = over(sum, paper, 0.75 * band(far, ring, 3.6 * pixel));
    sum = over(sum, warning, (0.5 + 0.5 * young) * band(far, ring, 1.7 * pixel));
  }
  float distance = outlying ? dot(abs(at), vec2(0.70711)) * 1.12 : far;
  float cover = clamp(reach + 0.5 - distance, 0.0, 1.0);
  float core = clamp(reach - mix(1.0, 1.5, young) * pixel + 0.5 - distance, 0.0, 1.0);
  sum = over(sum, outlying ? mix(warning, ink, 0.25) : mix(mix(own, ink, 0.55), ink, 0.8 * young), cover);
  sum = over(sum, own, core);
  float leaving = kind == ${Ot}.0 ? clamp(1.0 - age / ${C}, 0.0, 1.0) : 1.0;
  colour = sum * leaving;
}`;
class Bs {
  constructor(t, e) {
    this.gl = t, ze(t, () => this.start(), e);
  }
  at;
  program;
  buffer;
  bytes = new ArrayBuffer(N * 1024);
  floats = new Float32Array(this.bytes);
  octets = new Uint8Array(this.bytes);
  slots = /* @__PURE__ */ new Map();
  free = [];
  /** Slots of points that are fading away, and when they will have. */
  leaving = [];
  used = 0;
  dirty = { from: 1 / 0, to: -1 };
  resized = !0;
  /** About how many points arrived in the last seconds. */
  recent = 0;
  start() {
    const { gl: t } = this;
    this.program = we(t, Ps, Ns), this.at = be(t, this.program), this.buffer = t.createBuffer(), t.bindBuffer(t.ARRAY_BUFFER, this.buffer);
    for (const [e, s, i, n] of [
      ["place", 3, t.FLOAT, 0],
      ["origin", 3, t.FLOAT, 12],
      ["birth", 1, t.FLOAT, 4 * Zt],
      ["seed", 3, t.FLOAT, 4 * mt],
      ["shift", 3, t.FLOAT, 4 * mt + 12],
      ["look", 4, t.UNSIGNED_BYTE, xt]
    ]) {
      const r = t.getAttribLocation(this.program, e);
      t.enableVertexAttribArray(r), t.vertexAttribPointer(r, s, i, i === t.UNSIGNED_BYTE, N, n);
    }
    this.resized = !0;
  }
  seen = 0;
  way = null;
  clear() {
    this.slots.clear(), this.free = [], this.leaving = [], this.used = 0;
  }
  put(t, e, s, i, n = t) {
    let r = this.slots.get(t.id);
    r === void 0 && (r = this.free.pop() ?? this.used++, this.slots.set(t.id, r), this.grow(), this.sow(r, V)), i >= this.seen - 9 && this.recent++, this.floats.set([t.x, t.y, t.z ?? 0, n.x, n.y, n.z ?? 0, i], r * ht), this.paint(r, t, e, s);
  }
  morph(t) {
    this.way = t;
  }
  seed(t, e) {
    const s = this.slots.get(t);
    s !== void 0 && (this.sow(s, e), this.touch(s));
  }
  sow(t, { x: e, y: s, room: i, dx: n, dy: r, dz: a }) {
    this.floats.set([e, s, i, n, r, a], t * ht + mt);
  }
  paint(t, e, s, i) {
    const n = i ? ut : Se, r = s === null ? lt : e.verdict === "outlier" ? n : Is, [a, l, h] = s ?? [0, 0, 0];
    this.octets.set([a, l, h, r], t * N + xt), this.touch(t);
  }
  recolour(t, e, s) {
    const i = this.slots.get(t.id);
    i !== void 0 && this.paint(i, t, e, s);
  }
  remove(t, e, s) {
    const i = this.slots.get(t);
    if (i === void 0) return;
    this.slots.delete(t);
    const n = i * N + xt + 3;
    this.octets[n] = s && this.octets[n] !== lt ? Ot : lt, this.floats[i * ht + Zt] = e, this.touch(i), s ? this.leaving.push({ slot: i, until: e + C }) : this.free.push(i);
  }
  grow() {
    if (this.used * N <= this.bytes.byteLength) return;
    const t = new ArrayBuffer(this.bytes.byteLength * 2);
    new Uint8Array(t).set(this.octets), this.bytes = t, this.floats = new Float32Array(t), this.octets = new Uint8Array(t), this.resized = !0;
  }
  touch(t) {
    this.dirty.from = Math.min(this.dirty.from, t), this.dirty.to = Math.max(this.dirty.to, t);
  }
  upload() {
    const { gl: t, dirty: e } = this;
    t.bindBuffer(t.ARRAY_BUFFER, this.buffer), this.resized ? t.bufferData(t.ARRAY_BUFFER, this.octets, t.DYNAMIC_DRAW) : e.to >= e.from && t.bufferSubData(t.ARRAY_BUFFER, e.from * N, this.octets, e.from * N, (e.to - e.from + 1) * N), this.resized = !1, this.dirty = { from: 1 / 0, to: -1 };
  }
  draw(t, e, s, i, n, r) {
    const { gl: a, at: l } = this;
    for (; this.leaving.length > 0 && this.leaving[0].until < s; ) this.free.push(this.leaving.shift().slot);
    a.useProgram(this.program), this.upload(), ye(a), ke(a, t, l), Me(a, this.way, l), a.uniform1f(l("now"), s), this.recent *= Math.exp((this.seen - s) / 6), this.seen = s, a.uniform1f(l("glow"), Math.min(Math.max(1.2 - this.recent / 1500, 0), 1)), a.uniform1f(l("radius"), I(t, this.slots.size) * e), a.uniform1f(l("pixel"), e), a.uniform1f(l("zoom"), t.scale * e), a.uniform2f(l("screen"), a.drawingBufferWidth, a.drawingBufferHeight), a.uniform1f(l("motion"), r ? 1 : 0);
    const h = (c, d) => a.uniform3f(l(c), d[0] / 255, d[1] / 255, d[2] / 255);
    h("paper", i.paper), h("ink", i.dark ? [8, 10, 13] : i.ink), h("warning", n), a.drawArrays(a.POINTS, 0, this.used);
  }
}
const _s = `${ve}
in float x, y, z, x0, y0, z0, fresh;
in uint cluster;
uniform float size, morphing, grown;
uniform vec3 paper;
uniform sampler2D palette;
out vec4 shade;
out float across;
void main() {
  int k = cluster == ${4294967295}u ? 0 : int(cluster) + 1;
  shade = texelFetch(palette, ivec2(k & 1023, k >> 10), 0);
  // A hidden point goes where nothing is drawn.
  vec3 place = vec3(x, y, z);
  if (morphing > 0.5 && fresh < 0.5) place = between(vec3(x0, y0, z0), place);
  if (morphing > 0.5 && fresh > 0.5) shade.a *= grown;
  vec3 at = seen(place);
  gl_Position = shade.a == 0.0 ? vec4(2.0, 2.0, 2.0, 1.0) : vec4(at, 1.0);
  shade.rgb = mix(shade.rgb, paper, clamp(0.1 + 0.7 * at.z, 0.0, 0.4) * step(0.000001, deep));
  across = size * (1.0 + 0.8 * morphing * fresh * (1.0 - grown)) * (1.0 - 0.5 * at.z);
  gl_PointSize = across;
}`, Ds = `
in vec4 shade;
in float across;
uniform float opacity, solid;
out vec4 colour;
void main() {
  float cover = clamp(0.5 * across - length(across * (gl_PointCoord - 0.5)), 0.0, 1.0);
  // What hides others in space has a hard edge.
  if (solid > 0.5 && cover < 0.5) discard;
  float alpha = opacity * shade.a * (across < 2.5 ? 1.0 : cover);
  colour = vec4(shade.rgb * alpha, alpha);
}`, wt = { least: 2e4, start: 1e5, most: 4e6 }, bt = 0.028, Fs = 63, Qt = { light: 0.42, dark: 0.34 }, Us = ["x", "y", "z", "x0", "y0", "z0", "fresh", "cluster"];
function Ae(o, { paper: t, dark: e }, s) {
  const i = (e ? 0.1 : 0.05) * Math.min(Math.max(Math.log10(s / 2500), 0), 1.5);
  return Rt(o, t, (e ? Qt.dark : Qt.light) + i);
}
function Ee(o, t) {
  const e = o.width * o.height, s = Math.sqrt(e * 0.085 / (Math.PI * Math.max(t, 400)));
  return Math.min(Math.min(Math.max(s, 0.55), 3) * Math.max(o.zoom, 1) ** 0.45, 5.5);
}
class js {
  constructor(t, e, s) {
    this.gl = t, this.map = e, ze(t, () => this.start(), s);
  }
  at;
  buffers = /* @__PURE__ */ new Map();
  program;
  budget = wt.start;
  /** How many of the slices of the picture at rest are drawn, and of how many. */
  slices = { drawn: 0, all: 0 };
  texels = new Uint8Array(4 * 1024);
  paper = [255, 255, 255];
  way = null;
  start() {
    const { gl: t } = this;
    this.program = we(t, _s, Ds), this.at = be(t, this.program), this.buffers.clear(), this.fill(), this.way && this.fillOrigin(this.way.origin), t.bindTexture(t.TEXTURE_2D, t.createTexture()), t.texParameteri(t.TEXTURE_2D, t.TEXTURE_MIN_FILTER, t.NEAREST), t.texParameteri(t.TEXTURE_2D, t.TEXTURE_MAG_FILTER, t.NEAREST), this.upload();
  }
  change(t) {
    this.map = t, this.fill();
  }
  morph(t) {
    t?.origin !== this.way?.origin && this.fillOrigin(t?.origin ?? null), this.way = t;
  }
  fill() {
    const { x: t, y: e, z: s, cluster: i } = this.map;
    for (const [n, r] of [["x", t], ["y", e], ["z", s], ["cluster", i]]) this.put(n, r);
  }
  fillOrigin(t) {
    for (const [e, s] of [["x0", "x"], ["y0", "y"], ["z0", "z"], ["fresh", "fresh"]]) this.put(e, t?.[s] ?? null);
  }
  /** Sends a column to the graphics card, or takes it from there. */
  put(t, e) {
    const { gl: s, buffers: i } = this;
    if (!e) {
      s.deleteBuffer(i.get(t) ?? null), i.delete(t);
      return;
    }
    const n = i.get(t) ?? s.createBuffer();
    s.bindBuffer(s.ARRAY_BUFFER, n), s.bufferData(s.ARRAY_BUFFER, e, s.STATIC_DRAW), i.set(t, n);
  }
  colour(t, e) {
    const s = Math.max(1, Math.ceil(t.length / 1024));
    this.texels = new Uint8Array(4 * 1024 * s), t.forEach(({ colour: i, shown: n, strength: r }, a) => {
      this.texels.set([...Ae(i, e, this.map.rows), n ? Math.max(1, Math.round(255 * r)) : 0], 4 * a);
    }), this.paper = e.paper, this.upload();
  }
  upload() {
    const { gl: t, texels: e } = this;
    t.texImage2D(t.TEXTURE_2D, 0, t.RGBA8, 1024, e.length / 4096, 0, t.RGBA, t.UNSIGNED_BYTE, e);
  }
  radius(t) {
    return Ee(t, this.map.rows);
  }
  draw(t, e, s) {
    const i = Math.min(Math.max(Math.ceil(this.map.rows / this.budget), 1), Fs);
    this.slices = { drawn: 1, all: s ? 1 : i }, this.slice(t, e, 0, i, s);
  }
  refine(t, e) {
    const { drawn: s, all: i } = this.slices;
    return s >= i ? !1 : (this.slice(t, e, s, i, !1), this.slices.drawn++, !0);
  }
  /** Every step-th point from the first on. Fewer points are drawn larger, so that the map keeps its weight. */
  slice(t, e, s, i, n) {
    const { gl: r, map: a } = this;
    r.useProgram(this.program), s === 0 && ye(r), ke(r, t, this.at), Me(r, this.way, this.at);
    for (const u of Us) {
      const p = r.getAttribLocation(this.program, u), g = this.buffers.get(u);
      if (!g) {
        r.disableVertexAttribArray(p);
        continue;
      }
      r.bindBuffer(r.ARRAY_BUFFER, g), r.enableVertexAttribArray(p), u === "cluster" ? r.vertexAttribIPointer(p, 1, r.UNSIGNED_INT, 4 * i, 4 * s) : r.vertexAttribPointer(p, 1, r.FLOAT, !1, 4 * i, 4 * s);
    }
    const { space: l } = t.turn;
    l && r.enable(r.DEPTH_TEST), r.depthFunc(r.LEQUAL), r.uniform1f(this.at("solid"), l ? 1 : 0), r.uniform3f(this.at("paper"), this.paper[0] / 255, this.paper[1] / 255, this.paper[2] / 255);
    const h = 2 * this.radius(t) * e * (n ? Math.min(Math.sqrt(i), 2) : 1) + 1, c = Math.max(h, 1.5);
    r.uniform1f(this.at("size"), c);
    const d = Math.min(1, 4e4 / a.rows) ** 0.2;
    r.uniform1f(this.at("opacity"), l ? 1 : Math.min(0.85, 0.8 * d * Math.min(1, (h / c) ** 2))), r.drawArrays(r.POINTS, 0, Math.ceil((a.rows - s) / i));
  }
  learn(t) {
    t > 2 * bt ? this.budget = Math.max(this.budget * Math.max(bt / t, 0.4), wt.least) : t < bt && (this.budget = Math.min(this.budget * 1.15, wt.most));
  }
  finish(t, e) {
    for (; this.refine(t, e); ) ;
  }
}
function Gs(o, t) {
  const e = getComputedStyle(o), s = (i) => {
    const n = parseInt(e.getPropertyValue(i).trim().slice(1), 16);
    return [n >> 16 & 255, n >> 8 & 255, n & 255];
  };
  return {
    dark: t,
    paper: s("--map"),
    ink: s("--ink"),
    faint: s("--faint"),
    line: s("--line"),
    accent: s("--accent"),
    gained: s("--gained"),
    lost: s("--lost")
  };
}
matchMedia("(prefers-color-scheme: dark)");
const Ws = matchMedia("(prefers-reduced-motion: reduce)"), Z = () => Ws.matches, Hs = { yaw: -0.5, pitch: 0.35 }, te = Math.PI / 2;
class Vs {
  /** Whether the map has three dimensions. */
  space = !1;
  yaw = 0;
  pitch = 0;
  middle = [0, 0, 0];
  /** How far the map reaches from its middle. */
  reach = 1;
  /** Right, up and towards the viewer as directions of the map: the lines of a rotation. */
  axes = new Float32Array([1, 0, 0, 0, 1, 0, 0, 0, 1]);
  /** The middle of a map and how far it reaches around it, from its bounds: x0, y0, z0, x1, y1, z1. */
  hold(t) {
    this.space = t.length === 6, this.space && (this.middle = [0, 1, 2].map((e) => (t[e] + t[e + 3]) / 2), this.reach = Math.max(Math.hypot(...[0, 1, 2].map((e) => t[e + 3] - t[e])) / 2, 1e-9));
  }
  set(t, e) {
    if (!this.space) return;
    this.yaw = t, this.pitch = Math.min(Math.max(e, -te), te);
    const [s, i, n, r] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    this.axes.set([s, 0, i, i * r, n, -s * r, -i * n, r, s * n]);
  }
  /** Where a place falls on the plane of the view, in the map's units. */
  plane(t, e, s = 0) {
    if (!this.space) return { x: t, y: e };
    const [i, [n, r, a]] = [this.axes, this.middle], [l, h, c] = [t - n, e - r, s - a];
    return { x: n + i[0] * l + i[1] * h + i[2] * c, y: r + i[3] * l + i[4] * h + i[5] * c };
  }
  /** How near a place is to the viewer: from -1, behind, to 1, before all others; 0 in the plane. */
  depth(t, e, s = 0) {
    if (!this.space) return 0;
    const [i, [n, r, a]] = [this.axes, this.middle];
    return (i[6] * (t - n) + i[7] * (e - r) + i[8] * (s - a)) / this.reach;
  }
}
const Ys = 0.7, ee = { least: 0.3, most: 3e3 }, se = { x: 44, y: 40 }, qs = (o) => 1 - (1 - o) ** 3;
class Ks {
  width = 1;
  height = 1;
  turn = new Vs();
  /** The middle of the view, in the map's units on the plane that is looked at. */
  x = 0;
  y = 0;
  /** Pixels per unit of the map. */
  scale = 1;
  /** While nobody moved it, the camera keeps everything in view. */
  auto = !0;
  /** What the whole view must hold. */
  box = { x0: -1, y0: -1, x1: 1, y1: 1 };
  flight = null;
  resize(t, e) {
    const s = { x: this.x, y: this.y };
    this.width = Math.max(t, 1), this.height = Math.max(e, 1), this.auto ? this.set(this.whole()) : Object.assign(this, s);
  }
  /** Says what the whole view must hold. Returns whether that is new. */
  hold(t) {
    const e = ["x0", "y0", "x1", "y1"].every((s) => this.box[s] === t[s]);
    return this.box = { ...t }, !e;
  }
  /** The view of everything. */
  whole() {
    const { x0: t, y0: e, x1: s, y1: i } = this.box, n = (a, l) => Math.max(a, 40) / Math.max(l, 1e-9), r = Math.min(n(this.width - 2 * se.x, s - t), n(this.height - 2 * se.y, i - e));
    return { x: (t + s) / 2, y: (e + i) / 2, scale: r, ...this.turn.space ? Hs : { yaw: 0, pitch: 0 } };
  }
  get zoom() {
    return this.scale / this.whole().scale;
  }
  toScreen(t, e, s) {
    return this.planeToScreen(this.turn.plane(t, e, s));
  }
  planeToScreen({ x: t, y: e }) {
    return { x: this.width / 2 + (t - this.x) * this.scale, y: this.height / 2 - (e - this.y) * this.scale };
  }
  /** What is at (x, y) on the screen, on the plane that is looked at: for a map in the plane, its own coordinates. */
  toPlane(t, e) {
    return { x: this.x + (t - this.width / 2) / this.scale, y: this.y - (e - this.height / 2) / this.scale };
  }
  pan(t, e) {
    this.auto = !1, this.flight = null, this.x -= t / this.scale, this.y += e / this.scale;
  }
  /** Turns the map by so many pixels of dragging: across the whole view is half a turn. */
  orbit(t, e) {
    this.flight = null;
    const s = Math.PI / Math.max(Math.min(this.width, this.height), 1);
    this.turn.set(this.turn.yaw + t * s, this.turn.pitch + e * s);
  }
  /** Zooms so that what is at (x, y) on the screen stays there. */
  zoomAt(t, e = this.width / 2, s = this.height / 2) {
    const i = this.toPlane(e, s);
    this.auto = !1, this.flight = null, this.scale = this.within(this.scale * t);
    const n = this.toPlane(e, s);
    this.x += i.x - n.x, this.y += i.y - n.y;
  }
  within(t) {
    const e = this.whole().scale;
    return Math.min(Math.max(t, e * ee.least), e * ee.most);
  }
  /** Flies to a place, near enough to see what is around it. */
  visit({ x: t, y: e, z: s }, i, n = 3.2) {
    this.auto = !1;
    const { yaw: r, pitch: a } = this.turn;
    this.fly({ ...this.turn.plane(t, e, s), scale: Math.max(this.scale, this.within(this.whole().scale * n)), yaw: r, pitch: a }, i);
  }
  /** Flies back to everything. */
  reset(t) {
    this.auto = !0, this.fly(this.whole(), t);
  }
  fly(t, e) {
    Z() ? this.set(t) : this.flight = { from: { x: this.x, y: this.y, scale: this.scale, yaw: this.turn.yaw, pitch: this.turn.pitch }, to: t, start: e };
  }
  set({ x: t, y: e, scale: s, yaw: i, pitch: n }) {
    this.flight = null, Object.assign(this, { x: t, y: e, scale: s }), this.turn.set(i, n);
  }
  /** Moves along the flight; true while it lasts. */
  advance(t) {
    if (!this.flight) return !1;
    const { from: e, to: s, start: i } = this.flight, n = qs(Math.min(Math.max((t - i) / Ys, 0), 1)), r = Math.exp(Math.log(e.scale) + (Math.log(s.scale) - Math.log(e.scale)) * n), a = e.scale === s.scale ? n : (1 / e.scale - 1 / r) / (1 / e.scale - 1 / s.scale);
    return this.x = e.x + (s.x - e.x) * a, this.y = e.y + (s.y - e.y) * a, this.scale = r, this.turn.set(e.yaw + (s.yaw - e.yaw) * n, e.pitch + (s.pitch - e.pitch) * n), n >= 1 && this.set(s), !0;
  }
}
const Xs = 1.8, Js = 3.6;
class Zs {
  answer = null;
  asked = -1;
  /** Asks for the names of a version of the map. The names of the clusters that points know; null if they are no other, or another version was asked for meanwhile. */
  async ask({ version: t, recording: e }) {
    if (e || this.asked === t) return null;
    this.asked = t, this.answer = null;
    const s = await H.explained(t).catch(() => null);
    if (this.asked !== t || !s) return null;
    this.answer = s;
    const i = s.clusters.filter((n) => n.named && n.cluster);
    return new Map(i.map(({ cluster: n, name: r }) => [n, r]));
  }
  /** What the overview takes together, the largest first; none where the clusters that points know are few enough to be named at once. */
  merged(t) {
    const { answer: e } = this;
    if (!e || e.usual_level === 1) return [];
    const s = new Map(e.clusters.map((a) => [a.id, a])), i = new Map(t.map((a) => [a.name, a.rows])), n = /* @__PURE__ */ new Map();
    for (const a of e.clusters) {
      if (!a.cluster || !i.has(a.cluster)) continue;
      let l = a;
      for (let h = l; h; h = s.get(h.parent ?? -1)) l = h;
      n.set(l, [...n.get(l) ?? [], a.cluster]);
    }
    const r = (a) => i.get(a) ?? 0;
    return [...n].sort(([a], [l]) => l.size - a.size).map(([{ name: a, named: l }, h]) => ({ name: l ? a : null, clusters: h.sort((c, d) => r(d) - r(c)) }));
  }
  /** The clusters to name at this zoom, of those that points know and those of other levels. `kept` are named in any case. */
  at(t, e, s) {
    const { answer: i } = this;
    if (!i || i.levels === 1) return [...e];
    const n = (h) => i.clusters.filter(({ cluster: c, named: d, centre: u, level: p }) => !c && d && u && h(p)).map(({ name: c, size: d, centre: u }) => ({ name: c, own: c, rows: d, x: u[0], y: u[1], z: u?.[2] })), r = i.usual_level;
    if (t >= Js) return [...e, ...n((h) => h > r)];
    if (t >= Xs || r === 1) return [...e];
    const a = n((h) => h === 1);
    if (a.length === 0) return [...e];
    const l = new Set(i.clusters.filter(({ cluster: h, level: c }) => h && c === 1).map(({ cluster: h }) => h));
    return [...e.filter((h) => l.has(h.name) || s(h)), ...a];
  }
}
class Qs {
  constructor(t) {
    this.map = t;
    const { rows: e, x: s, y: i } = t;
    let [n, r, a, l] = [1 / 0, 1 / 0, -1 / 0, -1 / 0];
    for (let p = 0; p < e; p++)
      s[p] < n && (n = s[p]), s[p] > a && (a = s[p]), i[p] < r && (r = i[p]), i[p] > l && (l = i[p]);
    const [h, c] = [Math.max(a - n, 1e-9), Math.max(l - r, 1e-9)];
    this.side = Math.max(Math.sqrt(h * c * 2 / Math.max(e, 1)), Math.max(h, c) / 2048), [this.x0, this.y0] = [n, r], this.columns = Math.floor(h / this.side) + 1, this.lines = Math.floor(c / this.side) + 1, this.starts = new Uint32Array(this.columns * this.lines + 1);
    const d = new Uint32Array(e);
    for (let p = 0; p < e; p++)
      d[p] = Math.floor((i[p] - r) / this.side) * this.columns + Math.floor((s[p] - n) / this.side), this.starts[d[p] + 1]++;
    for (let p = 0; p < this.columns * this.lines; p++) this.starts[p + 1] += this.starts[p];
    const u = this.starts.slice();
    this.members = new Uint32Array(e);
    for (let p = 0; p < e; p++) this.members[u[d[p]]++] = p;
  }
  side;
  columns;
  lines;
  starts;
  members;
  x0;
  y0;
  /** The row nearest to a place within reach that passes, or -1. */
  nearest(t, e, s, i) {
    const { x: n, y: r } = this.map, a = (g, m, x) => [
      Math.max(0, Math.floor((g - s - m) / this.side)),
      Math.min(x - 1, Math.floor((g + s - m) / this.side))
    ], [l, h] = a(t, this.x0, this.columns), [c, d] = a(e, this.y0, this.lines);
    let [u, p] = [-1, s * s];
    for (let g = c; g <= d; g++)
      for (let m = this.starts[g * this.columns + l]; m < this.starts[g * this.columns + h + 1]; m++) {
        const x = this.members[m], b = (n[x] - t) ** 2 + (r[x] - e) ** 2;
        b <= p && i(x) && ([u, p] = [x, b]);
      }
    return u;
  }
  /** The nearest row however far: the reach doubles until there is one. */
  nearestAny(t, e) {
    if (this.map.rows === 0) return -1;
    for (let s = this.side * 4; ; s *= 2) {
      const i = this.nearest(t, e, s, () => !0);
      if (i >= 0 || s > 1e30) return i;
    }
  }
}
const yt = (o) => {
  const t = Math.min(Math.max(o, 0), 1);
  return t * t * (3 - 2 * t);
};
function ot(o) {
  return { rigid: yt(o / 0.32), rest: yt((o - 0.25) / 0.45), grown: yt((o - 0.66) / 0.34) };
}
function ti(o, t) {
  const e = new Int32Array(o.rows).fill(-1), s = !o.ids.named || !t.ids.named ? Math.min(o.rows, t.rows) : o.ids.isStartOf(t.ids) ? o.rows : t.ids.isStartOf(o.ids) ? t.rows : 0;
  for (let n = 0; n < s; n++) e[n] = n;
  if (s > 0) return e;
  const i = si(t);
  for (let n = 0; n < o.rows; n++) e[n] = i.get(o.ids.at(n)) ?? -1;
  return e;
}
function ei(o, t) {
  const e = new Int32Array(t).fill(-1);
  return o.forEach((s, i) => {
    s >= 0 && (e[s] = i);
  }), e;
}
function si({ rows: o, ids: t }) {
  const e = /* @__PURE__ */ new Map();
  for (let s = 0; s < o; s++) e.set(t.at(s), s);
  return e;
}
function ii(o, t, e) {
  const s = ["x", "y", "z"].flatMap((m) => {
    const [x, b] = [o[m], t[m]];
    return x && b ? [{ was: x, is: b, mean: 0, goal: 0 }] : [];
  }), i = e.reduce((m, x) => m + (x < 0 ? 0 : 1), 0);
  if (i < 2) return { matrix: new Float32Array([1, 0, 0, 0, 1, 0, 0, 0, 1]), offset: [0, 0, 0] };
  for (const m of s)
    for (let x = 0; x < t.rows; x++)
      e[x] < 0 || (m.mean += m.was[e[x]] / i, m.goal += m.is[x] / i);
  let [n, r, a] = [0, 0, 0];
  const [l, h] = s;
  for (let m = 0; m < t.rows; m++) {
    const x = e[m];
    if (!(x < 0)) {
      for (const { was: b, is: k, mean: z, goal: M } of s)
        n += (b[x] - z) * (k[m] - M), a += (b[x] - z) ** 2;
      r += (l.was[x] - l.mean) * (h.is[m] - h.goal) - (h.was[x] - h.mean) * (l.is[m] - l.goal);
    }
  }
  const [c, d] = a === 0 ? [1, 0] : [n / a, s.length === 3 ? 0 : r / a], u = new Float32Array([c, -d, 0, d, c, 0, 0, 0, s.length === 3 ? c : 1]), p = [0, 1, 2].map((m) => s[m]?.mean ?? 0), g = [0, 1, 2].map((m) => (s[m]?.goal ?? 0) - u[3 * m] * p[0] - u[3 * m + 1] * p[1] - u[3 * m + 2] * p[2]);
  return { matrix: u, offset: g };
}
function oi(o, t, e = ti(t, o)) {
  const s = (i) => {
    const [n, r] = [o[i], t[i]];
    return n && r && r.map((a, l) => e[l] < 0 ? a : n[e[l]]);
  };
  return {
    x: s("x"),
    y: s("y"),
    z: s("z"),
    fresh: new Float32Array(e).map((i) => i < 0 ? 1 : 0),
    similarity: ii(o, t, e)
  };
}
function It(o, t, { matrix: e, offset: s }, { rigid: i, rest: n }) {
  return [0, 1, 2].map((r) => {
    const a = e[3 * r] * o[0] + e[3 * r + 1] * o[1] + e[3 * r + 2] * o[2] + s[r], l = o[r] + (a - o[r]) * i;
    return l + (t[r] - l) * n;
  });
}
const Q = 46, nt = 8, ie = 16, ni = [16, 44, 90, 150], U = { across: 9, down: 9 }, tt = { cover: 5e3, cross: 1500, name: 60, dot: 3, pixel: 0.25 };
function* ri({ x: o, y: t }, e, s, i) {
  const n = (a, l) => ({ x: Y(a, nt, i.width - s - nt), y: Y(l, nt, i.height - Q - nt), width: s, height: Q });
  let r = 0;
  for (const a of ni)
    for (let l = 0; l < ie; l++) {
      const h = 2 * Math.PI * l / ie - Math.PI / 4, [c, d] = [Math.cos(h), Math.sin(h)], u = e + a + Math.abs(c) * s / 2 + Math.abs(d) * Q / 2, [p, g] = [o + c * u - s / 2, t + d * u - Q / 2], m = n(p, g);
      yield { rect: m, cost: 2 * r++ + 3 * (Math.abs(m.x - p) + Math.abs(m.y - g)) };
    }
  for (let a = 0; a < U.across * U.down; a++) {
    const l = n(a % U.across / (U.across - 1) * i.width, Math.floor(a / U.across) / (U.down - 1) * i.height), h = Pt(l, { x: o, y: t });
    yield { rect: l, cost: 2 * r + tt.pixel * Math.hypot(h.x - o, h.y - t) };
  }
}
function ai(o, t, e, s, i) {
  const n = [];
  for (const { id: r, tone: a, at: l, reach: h, title: c, text: d, width: u } of o) {
    const p = { x: Y(l.x, 14, t.width - 14), y: Y(l.y, 14, t.height - 14) }, g = l.x !== p.x || l.y !== p.y, m = e.filter((v) => O(v, { x: 0, y: 0, width: t.width, height: t.height })), x = { x: p.x - 1, y: p.y - 1, width: 2, height: 2 }, b = [...m, ...n.map(({ rect: v }) => hi(v, 6))], k = b.filter((v) => !O(v, x));
    let [z, M] = [null, 1 / 0];
    for (const { rect: v, cost: R } of ri(p, g ? 6 : h, u, t)) {
      let S = R + tt.cover * b.filter((E) => O(E, v)).length;
      if (!(S >= M) && (S += tt.cross * k.filter((E) => li(p, Pt(v, p), E)).length + tt.name * s.filter((E) => O(E, v)).length, !(S >= M))) {
        for (const { x: E, y: B } of i) E > v.x && B > v.y && E < v.x + u && B < v.y + Q && (S += tt.dot);
        S < M && ([z, M] = [v, S]);
      }
    }
    z && !n.some(({ rect: v }) => O(v, z)) && n.push({ id: r, tone: a, rect: z, at: p, reach: g ? 0 : h, title: c, text: d, away: g });
  }
  return n;
}
const Pt = (o, { x: t, y: e }) => ({ x: Y(t, o.x, o.x + o.width), y: Y(e, o.y, o.y + o.height) });
function li(o, t, { x: e, y: s, width: i, height: n }) {
  let [r, a] = [0, 1];
  for (const [l, h, c, d] of [[o.x, t.x - o.x, e, e + i], [o.y, t.y - o.y, s, s + n]]) {
    if (h === 0) {
      if (l < c || l > d) return !1;
      continue;
    }
    const [u, p] = [(c - l) / h, (d - l) / h];
    r = Math.max(r, Math.min(u, p)), a = Math.min(a, Math.max(u, p));
  }
  return r <= a;
}
const Y = (o, t, e) => Math.max(t, Math.min(o, e)), hi = ({ x: o, y: t, width: e, height: s }, i) => ({ x: o - i, y: t - i, width: e + 2 * i, height: s + 2 * i }), ci = { gained: "▲", lost: "▼" }, di = ({ share_a: o, share_b: t }) => `${Ut(o)} → ${Ut(t)}`, j = 26, et = 46;
function pi({ turn: o, height: t }) {
  return o.space ? [{ x: 0, y: t - 2 * et, width: 2 * et, height: 2 * et }] : [];
}
function ui(o, { turn: t, height: e }, s, i) {
  if (!t.space) return;
  const [n, r] = [et, e - et], a = ["x", "y", "z"].map((l, h) => ({ name: l, dx: t.axes[h], dy: -t.axes[3 + h], near: t.axes[6 + h] }));
  for (const { name: l, dx: h, dy: c, near: d } of a.sort((u, p) => u.near - p.near)) {
    const u = w(s.ink, d < -0.2 ? 0.45 : 0.9);
    o.beginPath(), o.moveTo(n, r), o.lineTo(n + h * j, r + c * j), o.lineWidth = 2, o.lineCap = "round", o.strokeStyle = u, o.stroke(), o.font = `650 12px ${i}`, o.textAlign = "center", o.textBaseline = "middle", o.lineWidth = 3, o.strokeStyle = w(s.paper, 0.9), o.strokeText(l, n + h * (j + 9), r + c * (j + 9)), o.fillStyle = u, o.fillText(l, n + h * (j + 9), r + c * (j + 9));
  }
}
const vt = 4;
function fi(o, t, e) {
  const { width: s, height: i } = o;
  if (!(s + 2 * vt > t.width))
    return [[0, 0], [0, -i], [0, i], [-s / 3, 0], [s / 3, 0]].map(([n, r]) => ({ ...o, x: Math.max(Math.min(o.x + n, t.width - s - vt), vt), y: o.y + r })).find((n) => n.y >= 0 && n.y + i <= t.height && !e.some((r) => O(r, n)));
}
const kt = 8, gi = 100;
function mi(o, t, e, { gained: s, lost: i }) {
  oe(o, t, e.gained, s, !1), oe(o, t, e.lost, i, !0);
}
function xi(o, t, { gained: e, lost: s }) {
  const i = [...e.shades, ...s.shades].map((r) => Te(r, t)).filter((r) => O(o, r)), n = Math.min(o.y + o.height, ...i.map(({ y: r }) => r)) - o.height - 3;
  return i.length > 0 && o.y - n < gi && n > 0 ? { ...o, y: n } : o;
}
function Te({ x0: o, y0: t, x1: e, y1: s }, i) {
  const [n, r] = [i.toScreen(o, s), i.toScreen(e, t)].map(({ x: a, y: l }) => ({ x: Math.round(a), y: Math.round(l) }));
  return { x: n.x, y: n.y, width: r.x - n.x, height: r.y - n.y };
}
function oe(o, t, e, { shades: s, border: i }, n) {
  const r = new Path2D();
  for (const a of s) {
    const { x: l, y: h, width: c, height: d } = Te(a, t);
    o.fillStyle = w(e, a.alpha), o.fillRect(l, h, c, d), r.rect(l, h, c, d);
  }
  o.strokeStyle = w(e, 0.75), n && s.length > 0 && wi(o, t, r), o.lineWidth = 1.6, o.beginPath();
  for (const [a, l] of i) {
    const [h, c] = [t.toScreen(a.x, a.y), t.toScreen(l.x, l.y)];
    o.moveTo(h.x, h.y), o.lineTo(c.x, c.y);
  }
  o.stroke();
}
function wi(o, t, e) {
  const { width: s, height: i } = t, { x: n, y: r } = t.toScreen(0, 0);
  o.save(), o.clip(e), o.lineWidth = 1, o.beginPath();
  for (let a = (n + r) % kt - kt; a < s + i; a += kt)
    o.moveTo(a, 0), o.lineTo(a - i, i);
  o.stroke(), o.restore();
}
const P = 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif', bi = 200, yi = 4, vi = 3e3, ki = 80, K = (o) => y([...o].length > 32 ? `${[...o].slice(0, 30).join("")}…` : o);
class Mi {
  constructor(t) {
    this.canvas = t, this.context = t.getContext("2d");
  }
  context;
  /** What was drawn that can be pressed. */
  targets = { names: [], callouts: [] };
  /** Draws; true while something in it moves by itself. */
  draw(t, e, s) {
    const { context: i } = this, { camera: n, state: r } = t;
    i.setTransform(e, 0, 0, e, 0, 0), i.clearRect(0, 0, n.width, n.height), t.compared?.shading && mi(i, n, t.theme, t.compared.shading);
    const a = t.look.off.has("outliers") ? [] : r.forming().slice(0, yi), l = this.nameRects(t), h = this.shapes(t), c = t.morph ? [] : t.born.filter(({ until: g }) => s < g), d = this.callouts(t, a, c, h, l), u = t.trails.draw(i, n, t.theme, s);
    this.groups(t, h, a, s), ui(i, n, t.theme, P);
    for (const g of l)
      d.some(({ rect: m }) => O(m, g.rect)) || this.name(t, g);
    for (const g of d) this.leader(g, t.theme);
    for (const g of d) this.callout(t, g);
    this.selection(t), t.hover && this.ring(this.marked(t, t.hover), 10, t.theme.ink, 2);
    const p = this.beacon(t, s);
    return this.polygon(t.lasso, t.theme, 0.12), this.targets = { names: l, callouts: d }, u || p || c.length > 0 || t.motion && a.length > 0;
  }
  /** The cluster or `group-N` whose words are at a place of the screen. */
  named(t, e) {
    const s = { x: t, y: e, width: 1, height: 1 }, i = this.targets.callouts.find(({ rect: r }) => O(r, s));
    if (i) return i;
    const n = this.targets.names.find(({ rect: r }) => O(r, s));
    return n && n.id !== null ? { id: n.id, rect: n.rect } : void 0;
  }
  // Names of the clusters, the larger first; those that would cover another are left out.
  nameRects({ camera: t, look: e, state: s, morph: i, compared: n, explained: r, kept: a }) {
    const { context: l } = this, h = [];
    if (e.off.has("base")) return h;
    const c = ({ name: p }) => Number(s.vanishing.has(p) || n?.clusters.has(p)), d = e.map.clusters.filter(({ colour: p }) => !p), u = (i ? [...d] : r.at(t.zoom, d, c)).sort((p, g) => c(g) - c(p) || g.rows - p.rows);
    l.font = `650 14px ${P}`;
    for (const { name: p, own: g, x: m, y: x, z: b } of u.slice(0, 400)) {
      if (g === void 0 ? e.hidden.has(p) : e.hidesMerged(g)) continue;
      const k = i?.place(p, { x: m, y: x, z: b });
      if (i && !k && i.stages.grown === 0) continue;
      const z = k ?? { x: m, y: x, z: b }, M = t.toScreen(z.x, z.y, z.z);
      if (M.x < 0 || M.y < 0 || M.x > t.width || M.y > t.height) continue;
      const v = s.vanishing.has(p), R = K(g ?? e.title(p)), S = n?.clusters.get(p), E = S?.change ?? null, B = S && E ? `${R} ${ci[E]} ${di(S)}` : v ? `${R} is vanishing` : R, Nt = l.measureText(B).width + (v || E ? 20 : 8), Bt = { x: M.x - Nt / 2, y: M.y - 12, width: Nt, height: 24 }, Le = E && n?.shading ? xi(Bt, t, n.shading) : Bt, _t = fi(Le, t, [...a, ...h.map(({ rect: Ce }) => Ce)]);
      _t && h.push({ id: g === void 0 ? p : null, text: B, rect: _t, vanishing: v, change: E });
    }
    return h;
  }
  name({ theme: t }, { text: e, rect: s, vanishing: i, change: n }) {
    const { context: r } = this, [a, l] = [s.x + s.width / 2, s.y + s.height / 2 + 1];
    if (r.font = `650 14px ${P}`, r.textAlign = "center", r.textBaseline = "middle", i || n) {
      r.beginPath(), r.roundRect(s.x, s.y, s.width, s.height, 12), r.fillStyle = w(t.paper, 0.94), r.fill(), n || r.setLineDash([4, 3]), r.strokeStyle = w(n ? t[n] : t.faint), r.lineWidth = n ? 2 : 1.5, r.stroke(), r.setLineDash([]), r.fillStyle = w(t.ink), r.fillText(e, a, l);
      return;
    }
    r.lineJoin = "round", r.lineWidth = 4, r.strokeStyle = w(t.paper, 0.85), r.strokeText(e, a, l), r.fillStyle = w(t.ink, 0.92), r.fillText(e, a, l);
  }
  // Outlier groups of more than one, as they are drawn: where each member is, and where their number is told.
  shapes(t) {
    const { context: e } = this, { state: s, camera: i, look: n, spread: r } = t;
    if (n.off.has("outliers")) return [];
    const a = [...s.groups].filter(([, l]) => l.size > 1).sort((l, h) => h[1].size - l[1].size).slice(0, bi);
    return e.font = `650 11.5px ${P}`, a.map(([l, h]) => {
      const c = [];
      for (const z of h) {
        const M = s.points.get(z);
        M && c.push(r.screen(M, i));
      }
      const d = 2.4 * I(i, s.points.size) + (s.isForming(l) ? 3 : 0), { x0: u, y0: p, x1: g, y1: m } = fe(c), x = { x: u - d, y: p - d, width: g - u + 2 * d, height: m - p + 2 * d }, b = `×${h.size}`, k = { x: u / 2 + g / 2 + x.width * 0.36 + 4, y: p / 2 + m / 2 - x.height * 0.36 - 15, width: e.measureText(b).width, height: 14 };
      return { group: l, places: c, pad: d, box: x, badge: k, text: b };
    });
  }
  // An outline with the number of members; those that form a cluster glow.
  groups(t, e, s, i) {
    const n = new Set(s.flatMap(({ groups: r }) => r));
    for (const { group: r, places: a, pad: l, badge: h, text: c } of e) {
      const d = n.has(r);
      if (d && t.motion) {
        const u = i % 1.8 / 1.8;
        this.outline(a, l + 10 * u, w($, 0.7 * (1 - u)), 2, []);
      }
      this.outline(a, l, w($, d ? 1 : 0.75), d ? 2.4 : 1.4, d ? [] : [4, 3], w($, d ? 0.12 : 0.06)), this.badge(t, h, c);
    }
    this.context.setLineDash([]);
  }
  // A rounded shape around places: their hull, moved outwards.
  outline(t, e, s, i, n, r) {
    const { context: a } = this, l = Fe(t);
    if (a.beginPath(), l.length < 3) {
      for (const { x: h, y: c } of l.length === 2 && Mt(l) > 2 ? [] : l.slice(0, 1)) a.arc(h, c, e, 0, 7);
      l.length === 2 && Mt(l) > 2 && this.capsule(l, e);
    } else this.capsule(l, e);
    a.closePath(), r && (a.fillStyle = r, a.fill()), a.setLineDash(n), a.lineWidth = i, a.strokeStyle = s, a.stroke();
  }
  // Arcs around the corners of a convex shape, joined by straight lines. On the screen the hull runs clockwise reversed:
  // y points down, so its order is that of rising angles.
  capsule(t, e) {
    const s = t.length;
    t.forEach((i, n) => {
      const r = t[(n + s - 1) % s], a = t[(n + 1) % s], l = (h, c) => Math.atan2(c.y - h.y, c.x - h.x) - Math.PI / 2;
      this.context.arc(i.x, i.y, e, l(r, i), l(i, a));
    });
  }
  badge({ theme: t }, { x: e, y: s, height: i }, n) {
    const { context: r } = this, a = s + i / 2;
    r.font = `650 11.5px ${P}`, r.textAlign = "left", r.textBaseline = "middle", r.setLineDash([]), r.lineWidth = 3.5, r.strokeStyle = w(t.paper, 0.9), r.strokeText(n, e, a), r.fillStyle = w(t.dark ? [255, 140, 100] : [190, 40, 0]), r.fillText(n, e, a);
  }
  // The words about each forming cluster.
  callouts(t, e, s, i, n) {
    if (e.length + s.length === 0) return [];
    const { look: r, state: a } = t, l = s.flatMap(({ name: c, rows: d }) => {
      const u = r.centre(c);
      if (!u) return [];
      const [p, g] = [`New cluster: ${K(r.title(c))}`, `${D(d, "row")} taken into the map`];
      return { id: c, tone: "born", at: t.camera.toScreen(u.x, u.y, u.z), reach: 16, title: p, text: g, width: this.widthOf(p, g) };
    });
    l.push(...e.map(({ group: c, groups: d, size: u, x: p, y: g, z: m }) => {
      const x = t.like(c), b = a.labelOf(d), k = a.titles.get(`group-${c}`), z = k === void 0 ? "New cluster forming" : `${K(k)}, forming`, M = b ? `, ${F(b.count)} labelled ${K(b.label)}` : x === null ? "" : `, most like ${K(r.title(x))}`, v = `${D(u, "outlier")}${M}`, R = this.widthOf(z, v), S = i.find((B) => d.includes(B.group)), E = S ? { x: S.box.x + S.box.width / 2, y: S.box.y + S.box.height / 2 } : t.camera.toScreen(p, g, m);
      return { id: `group-${c}`, tone: "forming", at: E, reach: S ? S.box.width / 2 : 12, title: z, text: v, width: R };
    }));
    const h = [...t.kept, ...pi(t.camera), ...i.flatMap(({ box: c, badge: d }) => [c, d]), ...this.alone(t)];
    return ai(l, t.camera, h, n.map(({ rect: c }) => c), this.sample(t));
  }
  widthOf(t, e) {
    const { context: s } = this;
    s.font = `650 13.5px ${P}`;
    const i = s.measureText(t).width;
    return s.font = `500 12.5px ${P}`, Math.max(i, s.measureText(e).width) + 26;
  }
  // Outliers that are in no group of several, each with its ring.
  alone({ camera: t, state: e }) {
    const s = 2.1 * I(t, e.points.size) + 2, i = [];
    for (const n of [...e.groups.values()].slice(-500)) {
      const [r] = n, a = n.size === 1 ? e.points.get(r) : void 0;
      if (!a) continue;
      const l = t.toScreen(a.x, a.y, a.z);
      i.push({ x: l.x - s, y: l.y - s, width: 2 * s, height: 2 * s });
    }
    return i;
  }
  // A few rows of the map as they lie on the screen: words had better not cover them.
  sample({ camera: t, shown: { columns: e } }) {
    const s = Math.max(1, Math.floor(e.rows / 600)), i = [];
    for (let n = 0; n < e.rows; n += s) i.push(t.toScreen(e.x[n], e.y[n], e.z?.[n]));
    return i;
  }
  // The line from a callout to what it is about.
  leader({ rect: t, at: e, reach: s, away: i, tone: n }, r) {
    const { context: a } = this, l = Pt(t, e), h = Math.max(Mt([l, e]), 1), c = Math.min(s, h);
    a.beginPath(), a.moveTo(l.x, l.y), a.lineTo(e.x + (l.x - e.x) * c / h, e.y + (l.y - e.y) * c / h), a.strokeStyle = w(n === "born" ? r.accent : $), a.lineWidth = 2, a.stroke(), i && (a.beginPath(), a.arc(e.x, e.y, 5, 0, 7), a.fillStyle = w($), a.fill());
  }
  callout({ theme: t }, { rect: e, title: s, text: i, tone: n }) {
    const { context: r } = this;
    r.save(), r.shadowColor = "rgb(0 0 0 / 25%)", r.shadowBlur = 14, r.shadowOffsetY = 3, r.beginPath(), r.roundRect(e.x, e.y, e.width, e.height, 9);
    const a = n === "born";
    r.fillStyle = w(t.dark ? a ? [22, 28, 34] : [32, 26, 24] : [255, 255, 255]), r.fill(), r.restore(), r.lineWidth = 1.8, r.strokeStyle = w(a ? t.accent : $), r.stroke(), r.textAlign = "left", r.textBaseline = "alphabetic", r.fillStyle = w(a ? t.accent : t.dark ? [255, 138, 96] : [196, 42, 0]), r.font = `650 13.5px ${P}`, r.fillText(s, e.x + 13, e.y + 20), r.fillStyle = w(t.ink), r.font = `500 12.5px ${P}`, r.fillText(i, e.x + 13, e.y + 37);
  }
  selection({ camera: t, state: e, shown: { columns: s }, selected: i, theme: n, spread: r }) {
    const { context: a } = this;
    a.beginPath(), a.strokeStyle = a.fillStyle = w(n.accent);
    const l = i.ids.size > vi, h = (u, p) => {
      if (!(u.x < 0 || u.y < 0 || u.x > t.width || u.y > t.height)) {
        if (l) return a.fillRect(u.x - 1, u.y - 1, 2, 2);
        a.moveTo(u.x + p, u.y), a.arc(u.x, u.y, p, 0, 7);
      }
    }, c = I(t, e.points.size), d = i.ids.size > 12;
    for (const u of i.ids) {
      const p = e.points.get(u);
      p && h(r.screen(p, t), c + (d ? 1 : 3));
    }
    a.lineWidth = d ? 1.2 : 1.8, a.stroke(), a.beginPath();
    for (const u of i.rows.length > ki ? [] : i.rows) h(t.toScreen(s.x[u], s.y[u], s.z?.[u]), Math.max(c - 1, 2.5));
    a.lineWidth = 1, a.stroke(), this.polygon(i.outline.map((u) => t.planeToScreen(u)), n, 0.07);
  }
  ring(t, e, s, i) {
    const { context: n } = this;
    n.beginPath(), n.arc(t.x, t.y, e, 0, 7), n.lineWidth = i, n.strokeStyle = w(s), n.stroke();
  }
  marked({ camera: t, state: e, spread: s }, { x: i, y: n, z: r, id: a }) {
    const l = a === void 0 ? void 0 : e.points.get(a);
    return l ? s.screen(l, t) : t.toScreen(i, n, r);
  }
  // Shows where one flew to.
  beacon(t, e) {
    const { beacon: s, theme: i, motion: n } = t;
    if (!s || e > s.birth + 2.4) return !1;
    const r = this.marked(t, s), a = (e - s.birth) / 2.4, l = n ? 14 + 26 * (1 - a * 3 % 1) : 20;
    return this.ring(r, l, i.accent, 2.5), !0;
  }
  polygon(t, e, s) {
    if (t.length < 2) return;
    const { context: i } = this;
    i.beginPath();
    for (const { x: n, y: r } of t) i.lineTo(n, r);
    i.closePath(), i.fillStyle = w(e.accent, s), i.fill(), i.setLineDash([5, 4]), i.lineWidth = 1.6, i.strokeStyle = w(e.accent), i.stroke(), i.setLineDash([]);
  }
}
const Mt = ([o, t]) => Math.hypot(o.x - t.x, o.y - t.y), ne = "Inter, system-ui, sans-serif", rt = 62, _ = 170, re = 22;
function zi(o, t, e, s, i, n) {
  const [r, a] = [o[0].width / t, o[0].height / t], l = document.createElement("canvas");
  l.width = Math.round((r + _) * t), l.height = Math.round((a + rt) * t);
  const h = l.getContext("2d");
  h.scale(t, t), h.fillStyle = w(e.paper), h.fillRect(0, 0, r + _, a + rt);
  for (const c of o) h.drawImage(c, _, rt, r, a);
  return h.fillStyle = w(e.ink), h.font = `650 18px ${ne}`, h.fillText(s, 20, 28, r + _ - 40), h.fillStyle = w(e.faint), h.font = `500 13px ${ne}`, h.fillText(i, 20, 49, r + _ - 40), h.textBaseline = "middle", n.slice(0, Math.floor((a - 20) / re)).forEach((c, d) => Si(h, e, c, rt + 22 + d * re)), l;
}
function Si(o, t, { name: e, colour: s, count: i, diamond: n }, r) {
  if (o.fillStyle = w(s), o.beginPath(), n) for (const [a, l] of [[0, -6], [6, 0], [0, 6], [-6, 0]]) o.lineTo(26 + a, r + l);
  else o.arc(26, r, 5.5, 0, 7);
  o.fill(), o.fillStyle = w(t.ink), o.textAlign = "left", o.fillText(e, 40, r, _ - 90), o.fillStyle = w(t.faint), o.textAlign = "right", o.fillText(i, _ - 10, r, 50);
}
const Ai = 6e4, $e = (o) => o.getContext("2d");
class Ei {
  constructor(t, e) {
    this.canvas = t, this.map = e, this.context = $e(t);
  }
  context;
  colours = [];
  way = null;
  change(t) {
    this.map = t;
  }
  morph(t) {
    this.way = t;
  }
  /** Where a row is on its way, on the screen. */
  at(t, e) {
    const { x: s, y: i, z: n } = this.map, { way: r } = this;
    if (!r || r.origin.fresh[t]) return e.toScreen(s[t], i[t], n?.[t]);
    const { origin: a } = r, [l, h, c] = It([a.x[t], a.y[t], a.z?.[t] ?? 0], [s[t], i[t], n?.[t] ?? 0], a.similarity, r.stages);
    return e.toScreen(l, h, c);
  }
  colour(t, e) {
    this.colours = t.map((s) => ({ colour: Ae(s.colour, e, this.map.rows), alpha: s.shown ? 0.8 * s.strength : 0 }));
  }
  radius(t) {
    return Ee(t, this.map.rows);
  }
  draw(t, e, s) {
    const { width: i, height: n } = this.canvas, { cluster: r, rows: a } = this.map, l = this.context.createImageData(i, n), h = s ? Math.max(1, Math.ceil(a / Ai)) : 1, c = Math.max(1, Math.round(1.8 * this.radius(t) * e));
    for (let d = 0; d < a; d += h) {
      const { colour: u, alpha: p } = this.colours[r[d] === 4294967295 ? 0 : r[d] + 1], g = p * (this.way?.origin.fresh[d] ? this.way.stages.grown : 1);
      if (g === 0) continue;
      const m = this.at(d, t), x = Math.round(m.x * e - c / 2), b = Math.round(m.y * e - c / 2);
      x + c > 0 && b + c > 0 && x < i && b < n && Ti(l, x, b, c, u, g);
    }
    this.context.putImageData(l, 0, 0);
  }
  refine() {
    return !1;
  }
  learn() {
  }
  finish() {
  }
}
function Ti({ data: o, width: t, height: e }, s, i, n, r, a) {
  for (let l = Math.max(i, 0); l < Math.min(i + n, e); l++)
    for (let h = Math.max(s, 0); h < Math.min(s + n, t); h++) {
      if (n > 2 && (h === s || h === s + n - 1) && (l === i || l === i + n - 1)) continue;
      const d = 4 * (l * t + h), u = o[d + 3] / 255 * (1 - a), p = a + u;
      for (let g = 0; g < 3; g++) o[d + g] = (r[g] * a + o[d + g] * u) / p;
      o[d + 3] = 255 * p;
    }
}
class $i {
  constructor(t) {
    this.canvas = t, this.context = $e(t);
  }
  context;
  dots = /* @__PURE__ */ new Map();
  way = null;
  clear() {
    this.dots.clear();
  }
  morph(t) {
    this.way = t;
  }
  /** Where a dot is when it has gone a share of its way, on the screen; without its place among others. */
  at({ from: t, point: e, seed: s }, i, n) {
    const r = [s.dx, s.dy, s.dz], [a, l] = [t, e].map(({ x: p, y: g, z: m }) => [p, g, m ?? 0]), h = this.way ? It(a, l, this.way.origin.similarity, this.way.stages) : a.map((p, g) => p + (l[g] - p) * i), [c, d, u] = h.map((p, g) => p + r[g] * i);
    return n.toScreen(c, d, u);
  }
  put(t, e, s, i, n = t) {
    this.dots.set(t.id, { point: t, look: e, ringed: s, birth: i, from: n, seed: this.dots.get(t.id)?.seed ?? V });
  }
  recolour(t, e, s) {
    const i = this.dots.get(t.id);
    i && Object.assign(i, { point: t, look: e, ringed: s });
  }
  seed(t, e) {
    const s = this.dots.get(t);
    s && (s.seed = e);
  }
  remove(t) {
    this.dots.delete(t);
  }
  draw(t, e, s, i, n, r) {
    const { context: a, canvas: l } = this;
    a.setTransform(1, 0, 0, 1, 0, 0), a.clearRect(0, 0, l.width, l.height), a.setTransform(e, 0, 0, e, 0, 0);
    const h = I(t, this.dots.size);
    for (const c of this.dots.values()) {
      const { point: d, look: u, ringed: p, birth: g, seed: m } = c;
      if (!u) continue;
      const x = Math.max(s - g, 0), b = r ? Math.min(x / 0.9, 1) : 1, k = this.at(c, b, t), z = $t(m.room, t.scale, h);
      if (k.x += m.x * z * b, k.y += m.y * z * b, k.x < -30 || k.y < -30 || k.x > t.width + 30 || k.y > t.height + 30) continue;
      const M = x > at ? 0 : Math.exp(-x / 9), v = d.verdict === "outlier", R = h * (0.88 + (m.room > 0 ? 0.25 : 0.6) * M) * (m.room > 0 ? Rs(z, h) : 1);
      r && x < C && this.ring(k, h * (1 + 4.5 * x / C), w(v ? n : u, 0.8 * (1 - x / C)), 2), v && p && this.ring(k, R * 2.1 + 1, w(n, 0.5 + 0.5 * M), 1.7), this.dot(k, R, w(u), v ? w(Rt(n, i.ink, 0.25)) : w(i.dark ? [8, 10, 13] : i.ink, 0.55 + 0.45 * M), v);
    }
  }
  ring({ x: t, y: e }, s, i, n) {
    this.context.beginPath(), this.context.arc(t, e, s, 0, 7), this.context.lineWidth = n, this.context.strokeStyle = i, this.context.stroke();
  }
  dot({ x: t, y: e }, s, i, n, r) {
    const { context: a } = this;
    if (a.beginPath(), r) {
      const l = s * 1.26;
      a.moveTo(t, e - l), a.lineTo(t + l, e), a.lineTo(t, e + l), a.lineTo(t - l, e), a.closePath();
    } else a.arc(t, e, s - 0.5, 0, 7);
    a.fillStyle = i, a.fill(), a.lineWidth = 1.1, a.strokeStyle = n, a.stroke();
  }
}
const ae = 240, le = { small: 6, large: 16 };
class Li {
  trails = [];
  clear() {
    this.trails = [];
  }
  /** Adds the trail of an event that moved a point. */
  add(t, e, s) {
    if (!t.from || t.kind === "stayed" || t.from.x === t.x && t.from.y === t.y && t.from.z === t.z) return;
    const i = t.kind === "moved";
    this.trails.push({
      from: t.from,
      to: t,
      birth: s,
      life: i ? le.small : le.large,
      colour: i ? null : t.verdict === "outlier" ? $ : e
    }), this.trails.length > ae && this.trails.splice(0, this.trails.length - ae);
  }
  /** Draws those that are left; true while there are any. */
  draw(t, e, s, i) {
    this.trails = this.trails.filter(({ birth: n, life: r }) => i < n + r), t.lineCap = "round";
    for (const n of this.trails) Ci(t, e, s, n, i);
    return this.trails.length > 0;
  }
}
function Ci(o, t, e, s, i) {
  const { birth: n, life: r, colour: a } = s, l = t.toScreen(s.from.x, s.from.y, s.from.z), h = t.toScreen(s.to.x, s.to.y, s.to.z), [c, d] = [h.x - l.x, h.y - l.y], u = Math.hypot(c, d);
  if (u < 3) return;
  const p = 1 - (i - n) / r, g = a ? 0.14 : 0.05, m = { x: l.x + c / 2 + d * g, y: l.y + d / 2 - c * g }, x = Math.max(Math.hypot(h.x - m.x, h.y - m.y), 1), b = Math.min(a ? 15 : 5, x) / x, k = { x: h.x + (m.x - h.x) * b, y: h.y + (m.y - h.y) * b }, z = a ?? e.ink, M = () => {
    o.beginPath(), o.moveTo(l.x, l.y), o.quadraticCurveTo(m.x, m.y, k.x, k.y);
  };
  a && (M(), o.strokeStyle = w(e.paper, 0.8 * p), o.lineWidth = 5, o.stroke()), M(), o.strokeStyle = w(z, (a ? 0.95 : 0.6) * p ** 0.8), o.lineWidth = a ? 2.4 : 1.3, o.stroke(), o.beginPath(), o.arc(l.x, l.y, a ? 3 : 1.8, 0, 7), o.fillStyle = w(z, 0.8 * p), o.fill(), a && u > 24 && Ri(o, m, k, w(z, p));
}
function Ri(o, t, e, s) {
  const i = Math.atan2(e.y - t.y, e.x - t.x);
  o.save(), o.translate(e.x + 6 * Math.cos(i), e.y + 6 * Math.sin(i)), o.rotate(i), o.beginPath(), o.moveTo(1, 0), o.lineTo(-8, -5), o.lineTo(-8, 5), o.fillStyle = s, o.fill(), o.restore();
}
const Oi = 0.14, Ii = 0.2;
class Pi {
  constructor(t, e, s, i, n) {
    this.shown = t, this.state = e, this.look = s, this.themes = i, this.clock = n;
    const r = () => this.recolour(), [a, l] = this.layers, [h, c] = [Xt(a, !0), Xt(l)];
    this.base = h ? new js(h, t.columns, r) : new Ei(a, t.columns), this.arrivals = c ? new Bs(c, r) : new $i(l), this.overlay = new Mi(this.canvas), this.spread = new Os(e, ({ x: d, y: u, z: p }) => this.camera.turn.plane(d, u, p), (d) => this.room(d)), this.scene = {
      explained: new Zs(),
      camera: this.camera,
      theme: i.current,
      state: e,
      look: s,
      shown: t,
      trails: this.trails,
      spread: this.spread,
      like: () => null,
      selected: { ids: /* @__PURE__ */ new Set(), rows: [], outline: [] },
      kept: [],
      hover: null,
      lasso: [],
      beacon: null,
      motion: !Z(),
      morph: null,
      born: [],
      compared: null
    }, i.onChange(r), this.camera.turn.hold(s.map.bounds), this.camera.hold(this.extent()), this.recolour(), this.sizes.observe(this.root), this.resize();
  }
  camera = new Ks();
  root = T("stage");
  layers = ["base", "live", "over"].map((t) => T(t));
  canvas = this.layers[2];
  base;
  arrivals;
  overlay;
  trails = new Li();
  spread;
  scene;
  ratio = 1;
  stale = { base: !0, live: !0, over: !0 };
  animated = 0;
  ageing = 0;
  drawn = 0;
  moved = -1;
  moving = !1;
  refining = !1;
  /** Whether the map was turned since it last rested. */
  turned = !1;
  /** Whether names can be changed by pressing them. */
  renames = !1;
  /** Whether a hand is on the map: then it may move at any moment. */
  held = !1;
  grid = null;
  /** The rows on the plane that is looked at, and when they were put there. */
  flat = null;
  morphing = null;
  sizes = new ResizeObserver(() => this.resize());
  /** Nothing is drawn any more, and the graphics card has its room back. */
  close() {
    this.sizes.disconnect();
    for (const t of this.layers.slice(0, 2)) t.getContext("webgl2")?.getExtension("WEBGL_lose_context")?.loseContext();
  }
  resize() {
    this.camera.resize(this.root.clientWidth, this.root.clientHeight), this.scale(Math.min(devicePixelRatio || 1, 2)), this.draw(this.clock());
  }
  all() {
    this.stale.base = this.stale.live = this.stale.over = !0;
  }
  /** The view changed. */
  view() {
    this.moved = this.clock(), this.all();
  }
  /** Something over the points changed. */
  touch() {
    this.stale.over = !0;
  }
  /** Colours, or what is shown, changed. */
  recolour() {
    this.scene.theme = this.themes.current, this.look.dark = this.themes.current.dark, this.base.colour(this.look.base(this.state), this.themes.current);
    for (const t of this.state.points.values()) this.arrivals.recolour(t, this.look.of(t), this.alone(t));
    this.all();
  }
  /** Whether a point is an outlier with no other beside it: then it has a ring of its own. */
  alone({ group: t }) {
    return t === null || (this.state.groups.get(t)?.size ?? 1) < 2;
  }
  /** A group that gained its second member or lost all but one: its rings change. */
  regroup(t) {
    const e = t == null ? void 0 : this.state.groups.get(t);
    if (!(!e || e.size > 2))
      for (const s of e) {
        const i = this.state.points.get(s);
        i && this.arrivals.recolour(i, this.look.of(i), this.alone(i));
      }
  }
  /** Rows are in other clusters, or clusters have other colours. */
  reclassify() {
    this.base.change(this.shown.columns), this.recolour();
  }
  /** Only the base map's colours changed. */
  recolourBase() {
    this.base.colour(this.look.base(this.state), this.themes.current), this.stale.base = this.stale.over = !0;
  }
  /** All points anew, as old as they are at time `t` of the map. */
  reload(t) {
    this.arrivals.clear(), this.trails.clear(), this.spread.clear();
    for (const e of this.state.points.values()) this.settle(e, t);
    this.all(), this.widen();
  }
  /** Another version of the map is shown. `before` is the version that was, `rows` where its rows are in the new one, and `places` where its live points were; `t` is the time of the map. Resolves when all is where it belongs. */
  morph(t, e, s, i, n) {
    this.arrive();
    const { shown: { info: r, columns: a }, camera: l } = this;
    if (this.flat = this.grid = null, l.turn.hold(r.bounds), l.hold(this.extent()), this.widen(), l.auto && l.reset(this.clock()), Z() || n === 0)
      return this.base.change(a), this.recolour(), this.reload(i), Promise.resolve();
    const h = t.columns.rows > a.rows, [c, d] = h ? [t, this.shown] : [this.shown, t];
    this.base.change(c.columns), this.base.colour(this.look.base(this.state, c.info), this.themes.current), this.arrivals.clear(), this.trails.clear(), this.spread.clear();
    for (const p of this.state.points.values()) {
      const g = s.get(p.id) ?? p, [m, x] = h ? [p, { ...p, x: g.x, y: g.y, z: g.z }] : [g, p];
      this.arrivals.put(x, this.look.of(p), this.alone(p), this.clock() - at, m);
    }
    const u = new Map(t.info.clusters.map((p) => [p.name, p]));
    return new Promise((p) => {
      const g = oi(d.columns, c.columns, h ? e : ei(e, a.rows));
      this.morphing = { origin: g, start: this.clock(), seconds: n, back: h, share: 0, done: p }, this.scene.morph = { stages: ot(0), place: (m, x) => this.onTheWay(u.get(m), x) }, this.settled = () => this.reload(i), this.progress(this.clock());
    });
  }
  settled = () => {
  };
  /** Draws a morph as far as it is. */
  progress(t) {
    if (!this.morphing) return;
    const { origin: e, start: s, seconds: i, back: n } = this.morphing, r = (t - s) / i;
    if (r >= 1) return this.arrive();
    this.morphing.share = r;
    const a = { origin: e, stages: ot(n ? 1 - r : r) };
    this.base.morph(a), this.arrivals.morph(a), this.scene.morph && (this.scene.morph.stages = ot(r)), this.moved = t, this.all();
  }
  /** Where a place of the version before is on its way to one of the new. */
  onTheWay(t, e) {
    if (!t || !this.morphing) return;
    const { origin: { similarity: s }, back: i, share: n } = this.morphing, [r, a] = (i ? [e, t] : [t, e]).map((d) => [d.x, d.y, d.z ?? 0]), [l, h, c] = It(r, a, s, ot(i ? 1 - n : n));
    return { x: l, y: h, z: c };
  }
  /** Ends a morph: all is where it belongs. */
  arrive() {
    if (!this.morphing) return;
    const { done: t } = this.morphing;
    this.morphing = null, this.scene.morph = null, this.base.morph(null), this.arrivals.morph(null), this.base.change(this.shown.columns), this.recolour(), this.settled(), t();
  }
  settle(t, e) {
    const s = this.clock(), i = Math.max(e - t.t, 0);
    this.arrivals.put(t, this.look.of(t), this.alone(t), s - Math.max(i, C)), this.ageing = Math.max(this.ageing, s + at - i);
  }
  /** Points as they are after a jump through time: no animation. */
  jump(t, e) {
    this.arrive(), this.trails.clear();
    for (const s of t) {
      const i = this.state.points.get(s);
      i ? this.settle(i, e) : this.arrivals.remove(s, this.clock(), !1);
    }
    for (const s of t)
      this.spread.left(s), this.arrivals.seed(s, V);
    this.spread.touchAll();
    for (const s of this.state.groups.keys()) this.regroup(s);
    this.stale.live = this.stale.over = !0, this.widen();
  }
  /** One event happens before the person's eyes. */
  play(t, e) {
    const s = this.clock();
    e?.now && !pt(t) && t.kind !== "removed" ? (this.arrivals.put(e.now, this.look.of(e.now), this.alone(e.now), s, e.was ?? e.now), this.trails.add(t, this.look.colour(e.now.cluster), s)) : e && this.arrivals.remove(e.id, s, !Z()), e && e.was?.group !== e.now?.group && (this.spread.left(e.id), this.arrivals.seed(e.id, V), this.spread.touch(e.was?.group)), this.spread.touch(e?.now?.group), this.regroup(e?.was?.group), this.regroup(e?.now?.group), this.animated = Math.max(this.animated, s + C + 0.1), this.ageing = s + at, this.stale.live = this.stale.over = !0, e?.now?.verdict === "outlier" && this.widen([e.now]);
  }
  /** A hand turns the map. */
  orbit(t, e) {
    this.camera.orbit(t, e), this.turned = !0, this.scene.selected.outline = [], this.view();
  }
  /** What the whole map takes on the screen. In space that is a ball, so that turning needs no other view. */
  extent() {
    const { space: t, middle: [e, s], reach: i } = this.camera.turn, n = 0.82 * i;
    return t ? { x0: e - n, y0: s - n, x1: e + n, y1: s + n } : _e(this.look.map.bounds);
  }
  /** One of each group. */
  *outliers() {
    for (const [t] of this.state.groups.values()) {
      const e = this.state.points.get(t);
      e && (yield e);
    }
  }
  /** Outliers may land outside the map: the whole view takes them in. */
  widen(t = this.outliers()) {
    const e = { ...this.camera.box }, { space: s, middle: [i, n, r] } = this.camera.turn;
    for (const a of t) {
      const l = s ? Math.hypot(a.x - i, a.y - n, (a.z ?? 0) - r) : 0, [h, c] = s ? [i, n] : [a.x, a.y];
      e.x0 = Math.min(e.x0, h - l), e.y0 = Math.min(e.y0, c - l), e.x1 = Math.max(e.x1, h + l), e.y1 = Math.max(e.y1, c + l);
    }
    this.camera.hold(e) && this.camera.auto && this.camera.reset(this.clock());
  }
  /** Goes to a place and marks it. */
  visit({ x: t, y: e, z: s, id: i }, n) {
    this.camera.visit({ x: t, y: e, z: s }, this.clock(), n), this.scene.beacon = { x: t, y: e, z: s, id: i, birth: this.clock() }, this.view();
  }
  /** Goes to a group, as near as lets each member be seen. False when it is gone. */
  visitGroup(t) {
    const [e] = this.state.groups.get(t) ?? [], s = this.state.points.get(e);
    if (!s) return !1;
    const i = 1.5 * this.spread.scaleFor(t, this.camera) * this.camera.zoom / this.camera.scale;
    return this.camera.visit(s, this.clock(), Math.min(Math.max(i, 2.2), 16)), this.view(), !0;
  }
  /** The cluster or `group-N` whose words are under the pointer. */
  named(t, e) {
    return this.renames ? this.overlay.named(t, e) : void 0;
  }
  /** Calls out clusters that the version brought which is shown now. */
  callOut(t, e) {
    this.scene.born = t.map(({ name: s, rows: i }) => ({ name: s, rows: i, until: this.clock() + e })), this.touch();
  }
  /** The group of several whose outline is under the pointer. */
  groupAt(t, e) {
    if (this.look.off.has("outliers")) return null;
    const s = 2 * I(this.camera, this.state.points.size);
    for (const [i, n] of this.state.groups) {
      const [r] = n, a = n.size > 1 ? this.state.points.get(r) : void 0;
      if (!a) continue;
      const l = this.camera.toScreen(a.x, a.y, a.z);
      if (Math.hypot(l.x - t, l.y - e) < this.spread.reach(i, this.camera) + s) return i;
    }
    return null;
  }
  fit() {
    this.camera.hold(this.extent()), this.widen(), this.camera.reset(this.clock()), this.view();
  }
  /** The rows of the map on the plane that is looked at. */
  rows() {
    const { columns: t } = this.shown, { turn: e } = this.camera;
    if (!e.space) return t;
    const s = `${e.yaw} ${e.pitch}`;
    if (this.flat?.at !== s) {
      const [i, n] = [new Float32Array(t.rows), new Float32Array(t.rows)];
      for (let r = 0; r < t.rows; r++) ({ x: i[r], y: n[r] } = e.plane(t.x[r], t.y[r], t.z?.[r]));
      this.flat = { at: s, rows: { rows: t.rows, x: i, y: n } }, this.grid = null;
    }
    return this.flat.rows;
  }
  index() {
    const t = this.rows();
    return this.grid ??= new Qs(t), this.grid;
  }
  /** How far a place of the plane is from the nearest row of the map. */
  room({ x: t, y: e }) {
    const s = this.index().nearestAny(t, e), i = this.rows();
    return s < 0 ? 1 / 0 : Math.hypot(i.x[s] - t, i.y[s] - e);
  }
  /** Where a live point is drawn. */
  screen(t) {
    return this.spread.screen(t, this.camera);
  }
  /** What lies under the pointer: a live point before a row of the map. */
  pick(t, e) {
    const s = I(this.camera, this.state.points.size) + 5;
    let [i, n] = [null, s * s];
    for (const h of this.state.points.values()) {
      const c = this.screen(h), d = (c.x - t) ** 2 + (c.y - e) ** 2;
      d <= n && this.look.of(h) && ([i, n] = [h, d]);
    }
    if (i) return { point: i };
    const r = this.camera.toPlane(t, e), a = (this.base.radius(this.camera) + 3) / this.camera.scale, l = this.index().nearest(r.x, r.y, a, (h) => this.look.showsRow(h));
    return l < 0 ? null : { row: l };
  }
  /** One frame: draws what has to be drawn, and nothing else. */
  frame(t, e) {
    this.progress(t), this.camera.advance(t) && this.view();
    const s = this.held || t - this.moved < Oi;
    (this.moving || this.refining) && this.base.learn(e), this.moving && !s && this.rest(), this.moving = s, t < this.animated ? this.stale.live = this.stale.over = !0 : t < this.ageing && t - this.drawn > Ii && (this.stale.live = !0), this.draw(t);
  }
  /** The view rests: all points are drawn, and members of groups have the room that they have from here. */
  rest() {
    this.stale.base = !0, this.turned && this.spread.touchAll(), this.turned = !1;
  }
  draw(t) {
    const { stale: e, camera: s, ratio: i } = this;
    this.scene.motion = !Z(), e.base ? this.base.draw(s, i, this.moving) : this.refining = this.base.refine(s, i), this.spread.settle((r, a) => {
      this.arrivals.seed(r, a), e.live = e.over = !0;
    }), e.live && (this.arrivals.draw(s, i, t, this.themes.current, $, this.scene.motion), this.drawn = t);
    const n = e.over;
    e.base = e.live = e.over = !1, n && (e.over = this.overlay.draw(this.scene, i, t));
  }
  /** The map as it is seen, as one picture. */
  picture(t, e, s) {
    const { ratio: i, scene: n } = this, { selected: r, lasso: a, hover: l, beacon: h } = n;
    Object.assign(n, { selected: { ...r, outline: [] }, lasso: [], hover: null, beacon: null }), this.moving = !1, this.scale(2 * i), this.draw(this.clock()), this.base.finish(this.camera, this.ratio);
    const c = zi(this.layers, this.ratio, this.themes.current, t, e, s);
    return Object.assign(n, { selected: r, lasso: a, hover: l, beacon: h }), this.scale(i), this.draw(this.clock()), c;
  }
  /** Pixels of the canvases for each of the page. */
  scale(t) {
    this.ratio = t;
    for (const e of this.layers) $s(e, this.camera.width, this.camera.height, t);
    this.all();
  }
}
const he = ({ cluster: o, group: t }) => o ?? `group-${t}`;
class Ni {
  points = /* @__PURE__ */ new Map();
  /** Members of each outlier group. */
  groups = /* @__PURE__ */ new Map();
  /** Number of the event that this is the state after. */
  last = 0;
  outliers = 0;
  /** What showed that the map is stale, null while it is fresh. */
  stale = null;
  vanishing = /* @__PURE__ */ new Map();
  /** Clusters whose arrivals are no longer like their rows. */
  shifted = /* @__PURE__ */ new Map();
  announced = /* @__PURE__ */ new Map();
  /** Titles that people gave, by the name of a cluster or `group-N`. */
  titles = /* @__PURE__ */ new Map();
  /** Names made of what is known of clusters, for those that nobody has given a title. */
  named = /* @__PURE__ */ new Map();
  /** Starts over from what the server says is true now. */
  load(t) {
    this.points.clear(), this.groups.clear(), this.outliers = 0, this.stale = null;
    const { points: e } = t;
    for (let s = 0; s < e.id.length; s++)
      this.put({
        id: e.id[s],
        label: e.label[s],
        x: e.x[s],
        y: e.y[s],
        ...e.z && { z: e.z[s] },
        verdict: e.verdict[s],
        score: e.score[s],
        group: e.group[s],
        cluster: e.cluster[s],
        t: e.t[s]
      });
    this.last = t.last, "health" in t && this.adopt(t.health);
  }
  /** What a cluster is called. */
  title(t) {
    return this.titles.get(t) ?? this.named.get(t) ?? t;
  }
  /** The titles that the server knows. */
  retitle({ clusters: t }, { groups: e }) {
    this.titles.clear();
    for (const { name: s, title: i } of t) this.entitle(s, i ?? null);
    for (const { number: s, title: i } of e) this.entitle(`group-${s}`, i ?? null);
  }
  /** A cluster or a group has another title, or none. */
  entitle(t, e) {
    e === null ? this.titles.delete(t) : this.titles.set(t, e);
  }
  /** What the notices up to a moment say, where nothing but them is known: oldest first. All that was said before a switch has ended with it, but for clusters that still form. */
  retell(t) {
    this.announced.clear(), this.settleAlarms();
    for (const e of t) this.heed(e);
  }
  /** Alarms about the map as it was end with it. */
  settleAlarms() {
    this.vanishing.clear(), this.shifted.clear(), this.stale = null;
  }
  /** The server knows what the window says now: some things end without an event. */
  adopt(t) {
    this.announced.clear();
    for (const { group: e, groups: s, size: i, x: n, y: r, z: a, evidence: l } of t.forming) this.announced.set(e, { group: e, groups: s, size: i, x: n, y: r, ...Lt(a), evidence: l });
    this.vanishing.clear();
    for (const e of t.vanishing) this.vanishing.set(e.cluster, e);
    this.shifted.clear();
    for (const { cluster: e, score: s, evidence: i } of t.shifted) this.shifted.set(e, { score: s, evidence: i });
    this.stale = t.stale && { score: t.stale.score, evidence: t.stale.evidence };
  }
  /** Groups that are a new cluster forming, the largest first. */
  forming() {
    return [...this.announced.values()].map((t) => ({ ...t, size: t.groups.reduce((e, s) => e + (this.groups.get(s)?.size ?? 0), 0) })).filter(({ size: t }) => t > 0).sort((t, e) => e.size - t.size || t.group - e.group);
  }
  /** The label that most members of some groups carry, and how many. */
  labelOf(t) {
    const e = /* @__PURE__ */ new Map();
    for (const i of t) for (const n of this.groups.get(i) ?? []) {
      const r = this.points.get(n)?.label;
      r != null && e.set(r, (e.get(r) ?? 0) + 1);
    }
    const [s] = [...e].sort((i, n) => n[1] - i[1]);
    return s && { label: s[0], count: s[1] };
  }
  isForming(t) {
    for (const { groups: e } of this.announced.values()) if (e.includes(t)) return !0;
    return !1;
  }
  /** The next event happens. Null for a notice, which moves no point. */
  apply(t) {
    return this.last = t.n, pt(t) ? (this.heed(t), null) : t.kind === "removed" ? this.replace(t.id, null) : this.replace(t.id, ce(t.id, t));
  }
  /** The latest event has not happened. `before` is the latest earlier notice about the same thing, where one is known. */
  undo(t, e) {
    return this.last = t.n - 1, pt(t) ? (this.forget(t), e && t.kind !== "renamed" && this.heed(e), null) : this.replace(t.id, t.from && ce(t.id, t.from));
  }
  heed(t) {
    switch (t.kind) {
      case "forming": {
        const { group: e, size: s, x: i, y: n, z: r, evidence: a } = t;
        this.announced.set(e, { group: e, groups: t.groups ?? [e], size: s, x: i, y: n, ...Lt(r), evidence: a });
        break;
      }
      case "dissolved":
        this.announced.delete(t.group);
        break;
      case "cluster-stale":
        this.shifted.set(t.cluster, { score: t.score, evidence: t.evidence });
        break;
      case "cluster-fresh":
        this.shifted.delete(t.cluster);
        break;
      case "vanishing":
        this.vanishing.set(t.cluster, t);
        break;
      case "recovered":
        this.vanishing.delete(t.cluster);
        break;
      case "renamed":
        this.entitle(he(t), t.title);
        break;
      case "map-updated":
        if (this.settleAlarms(), t.still_forming)
          for (const e of this.announced.keys()) t.still_forming.includes(e) || this.announced.delete(e);
        break;
      case "stale":
        this.stale = { score: t.score ?? 1, evidence: t.evidence };
        break;
      case "fresh":
        this.stale = null;
    }
  }
  forget(t) {
    t.kind === "notice" || t.kind === "map-updated" || (t.kind === "renamed" ? this.entitle(he(t), t.before) : "group" in t ? this.announced.delete(t.group) : t.kind === "cluster-stale" || t.kind === "cluster-fresh" ? this.shifted.delete(t.cluster) : "cluster" in t ? this.vanishing.delete(t.cluster) : this.stale = null);
  }
  replace(t, e) {
    const s = this.points.get(t) ?? null;
    return s && e && s.group === e.group && s.verdict === e.verdict ? (this.points.set(t, e), { id: t, was: s, now: e }) : (s && this.take(s), e && this.put(e), { id: t, was: s, now: e });
  }
  put(t) {
    if (this.points.set(t.id, t), t.verdict === "outlier" && this.outliers++, t.group === null) return;
    const e = this.groups.get(t.group);
    e ? e.add(t.id) : this.groups.set(t.group, /* @__PURE__ */ new Set([t.id]));
  }
  take(t) {
    if (this.points.delete(t.id), t.verdict === "outlier" && this.outliers--, t.group === null) return;
    const e = this.groups.get(t.group);
    e?.delete(t.id), e?.size === 0 && this.groups.delete(t.group);
  }
}
function ce(o, t) {
  const { t: e, x: s, y: i, z: n, verdict: r, score: a } = t;
  return { id: o, t: e, x: s, y: i, ...Lt(n), verdict: r, score: a, group: t.group ?? null, cluster: t.cluster ?? null, label: t.label ?? null };
}
const Lt = (o) => o === void 0 ? {} : { z: o }, Bi = '*{box-sizing:border-box}[hidden]{display:none!important}html,body{height:100%;margin:0}body{display:flex;flex-direction:column;background:var(--paper);color:var(--ink);font:14px/1.4 Inter,system-ui,-apple-system,Segoe UI,Roboto,Helvetica Neue,Arial,sans-serif}:focus-visible{outline:2px solid var(--accent);outline-offset:1px}:root{color-scheme:light;--paper: #ffffff;--map: #fbfcfd;--raised: #f3f5f7;--ink: #1d2127;--faint: #5d646c;--line: #dde1e6;--accent: #1f6fb5;--good: #13805a;--warn: #d83200;--warn-soft: #fff0ea;--amber: #8a5a00;--amber-soft: #fff6e0;--quiet-soft: #eef1f6;--gained: #0b62c4;--lost: #a85f00;--shadow: 0 1px 2px rgb(20 28 40 / 8%), 0 6px 20px rgb(20 28 40 / 12%)}:root[data-theme=dark]{color-scheme:dark;--paper: #15181c;--map: #101316;--raised: #20252b;--ink: #e8eaed;--faint: #9ba3ac;--line: #2d333a;--accent: #7db8f0;--good: #3ecf9b;--warn: #ff7a4d;--warn-soft: #3a2018;--amber: #f2bd4d;--amber-soft: #332a15;--quiet-soft: #232a33;--gained: #66b2ff;--lost: #f0b040;--shadow: 0 1px 2px rgb(0 0 0 / 40%), 0 8px 24px rgb(0 0 0 / 50%)}body{font-size:13.5px;font-variant-numeric:tabular-nums}.sprite{position:absolute;width:0;height:0}.unseen{position:absolute;width:1px;height:1px;margin:0;overflow:hidden;clip-path:inset(50%);white-space:nowrap}button,input,select{font:inherit;color:inherit}button{cursor:pointer}button:disabled{cursor:default}h2{margin:0;font-size:12px;font-weight:600;color:var(--faint)}p,ul,ol,dl,dd{margin:0;padding:0}ul,ol{list-style:none}svg{display:block}kbd{font:inherit}header{display:flex;align-items:center;gap:14px;height:56px;flex:none;padding:0 14px 0 18px;border-bottom:1px solid var(--line)}.brand{flex:none;max-width:200px;min-width:0}h1,.brand p{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}h1{margin:0;font-size:15px;font-weight:650;line-height:1.25}.brand p{font-size:12px;color:var(--faint)}.pill{flex:none;display:flex;align-items:center;gap:7px;padding:3px 11px 3px 9px;border-radius:99px;background:var(--raised);font-size:13px;font-weight:600}.pill i{width:8px;height:8px;border-radius:50%;background:var(--faint)}.pill[data-state=live]{color:var(--good);background:color-mix(in srgb,var(--good) 13%,transparent)}.pill[data-state=live] i{background:var(--good);animation:breathe 2.2s infinite}.pill[data-state=lost]{color:var(--warn);background:var(--warn-soft)}.pill[data-state=lost] i{background:var(--warn)}.pill[data-state=replay]{color:var(--accent);background:color-mix(in srgb,var(--accent) 14%,transparent)}.pill[data-state=replay] i{background:var(--accent)}@keyframes breathe{50%{box-shadow:0 0 0 4px color-mix(in srgb,var(--good) 25%,transparent)}}.status{flex:1;min-width:0;font-size:16px;font-weight:550;line-height:1.25;display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;text-wrap:balance}.status em{font-style:normal;font-weight:650;color:var(--warn)}.icon{flex:none;display:grid;place-items:center;width:32px;height:32px;padding:0;border:1px solid var(--line);border-radius:7px;background:var(--paper);font-weight:600}.icon:hover,.tools button:hover{background:var(--raised)}.icon svg,.tools svg{width:16px;height:16px}#search{position:relative;flex:none;width:172px}#query{width:100%;height:32px;padding:0 26px 0 10px;background:var(--raised);border:1px solid transparent;border-radius:7px}#query::placeholder{color:var(--faint);opacity:1}#search kbd{position:absolute;right:8px;top:7px;width:17px;height:18px;line-height:16px;text-align:center;font-size:11.5px;color:var(--faint);border:1px solid var(--line);border-radius:4px;pointer-events:none}#query:focus+kbd{display:none}#matches{position:absolute;z-index:20;top:37px;right:0;min-width:100%;width:260px;padding:4px;background:var(--paper);border:1px solid var(--line);border-radius:9px;box-shadow:var(--shadow)}#matches li{display:flex;justify-content:space-between;gap:10px;padding:5px 9px;border-radius:6px;cursor:pointer}#matches li>span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}#matches li small{flex:none;color:var(--faint)}#matches li[aria-selected=true],#matches li:hover{background:var(--raised)}#matches li.more{cursor:default;color:var(--faint);font-size:12px;background:none}#matches li.none{cursor:default;color:var(--faint);background:none}main{flex:1;min-height:0;display:grid;grid-template-columns:204px minmax(0,1fr) 344px}#legend{overflow-y:auto;padding:14px 8px;border-right:1px solid var(--line)}#legend h2{display:flex;justify-content:space-between;margin:0 8px 5px}#legend h2 small{font-weight:400;font-size:11.5px}#legend *+h2{margin-top:16px}.class{display:flex;gap:8px;align-items:center;width:100%;padding:3px 8px;text-align:left;background:none;border:0;border-radius:6px;user-select:none}#legend li{position:relative}.pencil{position:absolute;right:2px;top:3px;display:none;padding:3px 5px;border:0;border-radius:5px;background:var(--raised);color:var(--faint)}.pencil svg{width:14px;height:14px}.pencil:hover{color:var(--ink)}#legend.renames li:hover>.pencil,#legend.renames li:focus-within>.pencil{display:block}.class:hover{background:var(--raised)}.class i{flex:none;width:11px;height:11px;border-radius:50%;border:2px solid}.class i.diamond{width:9px;height:9px;margin:0 1px;border-radius:1px;rotate:45deg}.class span{flex:1;min-width:0;display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;overflow-wrap:anywhere;line-height:1.3}.class.told{box-shadow:inset 0 0 0 2px var(--accent)}.merged>li>.class{padding-right:24px}.opener{position:absolute;right:0;top:1px;width:24px;height:24px;padding:0;border:0;border-radius:6px;background:none;color:var(--faint);font-size:17px;line-height:1}.opener:hover{background:var(--raised);color:var(--ink)}.opener[aria-expanded=true]{rotate:90deg}.parts{margin:0 0 6px 14px;border-left:1px solid var(--line)}.class small{color:var(--faint);font-size:12px}.class[aria-pressed=false]{color:var(--faint);text-decoration:line-through}.class[aria-pressed=false] i{background:none!important}.class.vanishing i{opacity:.45}.class.vanishing span{color:var(--faint)}.class.vanishing small{color:var(--amber);font-weight:600}.by{display:flex;flex:none;margin:2px 8px 0;padding:2px;border-radius:7px;background:var(--raised)}.by button{flex:1 1 0;min-width:0;padding:2px 0;border:0;border-radius:5px;background:none;font-size:12.5px}.by button[aria-pressed=true]{background:var(--paper);box-shadow:0 1px 2px #00000026;font-weight:600}.all{margin:8px 8px 0;padding:2px 10px;border:1px solid var(--line);border-radius:6px;background:none;font-size:12.5px}.hint{margin:12px 8px 0;color:var(--faint);font-size:11.5px;line-height:1.35}#centre{display:flex;flex-direction:column;min-width:0;min-height:0}#stage{position:relative;flex:1;min-height:0;overflow:hidden;background:var(--map)}#stage>canvas{position:absolute;inset:0;width:100%;height:100%}#over{touch-action:none;cursor:grab;outline-offset:-3px}#over.dragging{cursor:grabbing}#over.pointing{cursor:pointer}#over.naming{cursor:text}#over.lasso{cursor:crosshair}.tools{position:absolute;right:12px;bottom:12px;display:flex;flex-direction:column;border:1px solid var(--line);border-radius:9px;overflow:hidden;background:var(--paper);box-shadow:0 1px 3px #0000001a}.tools button{display:grid;place-items:center;width:34px;height:34px;padding:0;border:0;background:none;font-size:17px}.tools button+button{border-top:1px solid var(--line)}.tools button:focus-visible{outline-offset:-2px}.tools button[aria-pressed=true]{background:var(--accent);color:var(--paper)}#turn-hint{position:absolute;left:92px;bottom:36px;color:var(--faint);pointer-events:none}.notes{position:absolute;z-index:5;top:10px;left:12px;right:12px;display:flex;flex-direction:column;align-items:center;gap:8px;pointer-events:none}#banner{display:flex;align-items:center;gap:14px;pointer-events:auto;padding:9px 10px 9px 16px;background:var(--warn-soft);color:var(--ink);border:1px solid var(--warn);border-radius:10px;box-shadow:var(--shadow);font-weight:550}#banner button{flex:none;padding:4px 12px;border:0;border-radius:7px;background:var(--warn);color:var(--paper);font-weight:600}#note{padding:8px 16px;background:var(--amber-soft);border:1px solid var(--amber);border-radius:10px;box-shadow:var(--shadow);font-weight:550}.past #stage:after{content:"";position:absolute;inset:0;pointer-events:none;border:3px solid var(--accent)}#past{padding:4px 14px;border-radius:99px;background:var(--accent);color:var(--paper);font-weight:600;font-size:13px;white-space:nowrap}#failure,#unopened{position:absolute;inset:0;display:grid;place-items:center;padding:40px;text-align:center;font-size:16px;background:var(--map)}#unopened{animation:late 3s step-end;text-wrap:balance}@keyframes late{0%{visibility:hidden}}#card{position:absolute;z-index:6;left:0;top:0;width:252px;padding:11px 13px 12px;background:var(--paper);border:1px solid var(--line);border-radius:11px;box-shadow:var(--shadow);pointer-events:none}#card .close{display:none;position:absolute;top:4px;right:4px;width:22px;height:22px;padding:0;border:1px solid var(--line);border-radius:50%;background:var(--paper);line-height:18px;pointer-events:auto}#card.pinned .close{display:block}#card.pinned{border-color:var(--accent)}#card.pinned{pointer-events:auto;max-height:min(560px,calc(100% - 16px));overflow-y:auto}#card .shown{margin-top:8px;font-size:12.5px;overflow-wrap:anywhere}#card .shown strong{display:block;font-weight:600}#card .shown p{margin:4px 0 0;max-height:9.5em;overflow:hidden}#card.pinned .shown p{max-height:none}#card .shown small{color:var(--faint)}#card .shown .text{white-space:pre-wrap}#card .shown a{color:var(--accent)}#card .shown img{display:block;max-width:100%;max-height:150px;margin-top:3px;border-radius:6px}#card .more{display:none;padding:0 0 0 5px;border:0;background:none;color:var(--accent);text-decoration:underline}#card.pinned .more{display:inline}#card .values{grid-template-columns:minmax(0,1fr) auto;margin-top:0}#card .values dt{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}#card .gone{margin-top:7px;font-size:12.5px}#card .top{display:flex;gap:11px}#card .top>div{flex:1;min-width:0}#card b{display:block;font-size:14.5px;font-weight:650;overflow-wrap:anywhere;line-height:1.25}#card .sub{color:var(--faint);font-size:12px}#card canvas{image-rendering:pixelated;border-radius:6px;background:#000}#card .main{flex:none;width:68px;height:68px;object-fit:contain}#card .verdict{display:inline-flex;align-items:center;gap:5px;margin-top:5px;padding:1px 9px;border-radius:99px;background:var(--raised);font-size:12px;font-weight:600}#card .verdict.outlier{background:var(--warn-soft);color:var(--warn)}#card dl{display:grid;grid-template-columns:auto 1fr;gap:2px 12px;margin-top:9px;font-size:12.5px}#card dt{color:var(--faint)}#card dd{text-align:right;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}#card .meter{display:inline-block;vertical-align:middle;width:64px;height:5px;margin-right:7px;border-radius:3px;background:var(--line);overflow:hidden}#card .meter i{display:block;height:100%;background:var(--accent)}#card .meter.low i{background:var(--warn)}#card h3{margin:9px 0 4px;font-size:11.5px;font-weight:600;color:var(--faint)}#card .near{display:flex;gap:5px}#card .near li{flex:1;min-width:0;text-align:center;font-size:11px;color:var(--faint);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}#card .near canvas{display:block;width:100%;aspect-ratio:1;object-fit:contain;margin-bottom:2px}#card .rows{font-size:12px}#card .rows li{display:flex;gap:8px}#card .rows span{flex:0 1 auto;min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}#card .rows span:first-child{flex-shrink:0;max-width:60%;margin-right:auto}#card .rows .label{color:var(--faint)}#card .rows small{flex:none;color:var(--faint);font-size:12px}#shading{flex:none;padding:6px 14px;border-top:1px solid var(--line);line-height:1.5}#shading span{display:inline-flex;align-items:center;gap:7px;margin-right:16px;font-weight:550}#shading i{width:18px;height:12px;border:1.5px solid var(--gained);background:color-mix(in srgb,var(--gained) 28%,transparent)}#shading i.lost{border-color:var(--lost);background:repeating-linear-gradient(135deg,var(--lost) 0 1px,color-mix(in srgb,var(--lost) 22%,transparent) 1px 5px)}#shading small{display:block;color:var(--faint);font-size:12px}#replay{display:flex;align-items:center;gap:10px;flex:none;height:54px;padding:0 12px;border-top:1px solid var(--line)}.track{position:relative;flex:1;min-width:60px;height:34px}#marks{position:absolute;left:8px;right:8px;top:0;width:calc(100% - 16px);height:34px}#slider{position:absolute;inset:0 0 auto;width:100%;height:34px;margin:0;background:none;appearance:none;cursor:pointer}#slider::-webkit-slider-runnable-track{height:34px;background:none}#slider::-moz-range-track{height:34px;background:none}#slider::-webkit-slider-thumb{appearance:none;width:16px;height:16px;margin-top:14px;border-radius:50%;border:3px solid var(--paper);background:var(--accent);box-shadow:0 0 0 1px var(--accent),0 1px 4px #0000004d}#slider::-moz-range-thumb{width:10px;height:10px;translate:0 5px;border-radius:50%;border:3px solid var(--paper);background:var(--accent);box-shadow:0 0 0 1px var(--accent)}#moment{flex:none;min-width:104px;max-width:220px;overflow:hidden;text-overflow:ellipsis;font-size:12.5px;text-align:right;white-space:nowrap;line-height:1.25}#moment small{display:block;color:var(--faint);font-size:11.5px}.speed{flex:none;display:flex;align-items:center;gap:6px;font-size:12.5px;color:var(--faint)}.speed select{color:var(--ink)}#speed{height:32px;padding:0 4px;border:1px solid var(--line);border-radius:7px;background:var(--paper)}#replay.comparing{height:92px;align-items:flex-start;padding-top:10px}@media(min-width:721px){.comparing :is(#moment,.speed){display:none}}main:has(.comparing) #alarms{max-height:24%}main:has(.comparing) .tabs{gap:10px;padding:0 12px}#tab-compare{flex:none}.comparing .track{height:74px}#bands{position:absolute;left:8px;right:8px;top:36px;height:36px;touch-action:none}.band{--of: var(--lost);position:absolute;top:0;height:17px;min-width:2px;color:var(--of);background:color-mix(in srgb,var(--of) 24%,var(--paper));cursor:grab;touch-action:none}.band.b{--of: var(--gained);top:19px}.band:active{cursor:grabbing}.band:before{content:"";position:absolute;left:0;right:0;top:-36px;height:34px;background:color-mix(in srgb,var(--of) 16%,transparent);pointer-events:none}.band.b:before{top:-55px}.band span{position:absolute;inset:0;padding:0 5px;overflow:hidden;white-space:nowrap;font-size:11.5px;line-height:17px;font-weight:600;color:var(--ink);pointer-events:none}.band b{position:absolute;top:0;width:9px;height:100%;background:var(--of);cursor:ew-resize;touch-action:none}.band b:after{content:"";position:absolute;inset:0 -4px}.band .start{right:100%;border-radius:4px 0 0 4px}.band .end{left:100%;border-radius:0 4px 4px 0}.band b:focus-visible{z-index:1}@media(pointer:coarse){#replay.comparing{height:auto}.comparing .track{height:92px}#bands{height:56px}.band,.band span{height:26px;line-height:26px}.band.b{top:29px}.band.b:before{top:-65px}.band b{width:12px}.band b:after{inset:-1px -6px}}#compare-button{flex:none;display:flex;align-items:center;gap:6px;height:32px;padding:0 10px;border:1px solid var(--line);border-radius:7px;background:var(--paper)}#compare-button svg{width:16px;height:16px}#compare-button:disabled{color:var(--faint)}#compare-button[aria-pressed=false]:not(:disabled):hover{background:var(--raised)}#compare-button[aria-pressed=true]{background:var(--accent);border-color:var(--accent);color:var(--paper)}#golive{flex:none;height:32px;padding:0 13px;border:0;border-radius:7px;background:var(--accent);color:var(--paper);font-weight:600}#golive:disabled{background:var(--raised);color:var(--faint)}#side{display:flex;flex-direction:column;min-height:0;border-left:1px solid var(--line)}#charts{flex:none;display:grid;grid-template-columns:repeat(3,1fr);gap:1px;background:var(--line);border-bottom:1px solid var(--line)}.chart{display:flex;flex-direction:column;padding:10px 12px 9px;background:var(--paper);min-width:0}.chart h2{font-weight:500;font-size:11.5px;white-space:nowrap}.chart b{font-size:20px;font-weight:650;line-height:1.2;letter-spacing:-.01em;white-space:nowrap}.chart small{font-size:11.5px;color:var(--faint);white-space:nowrap;overflow:hidden;text-overflow:ellipsis}.chart svg{width:100%;height:30px;margin-top:5px;overflow:visible}.chart path{fill:none;stroke:var(--accent);stroke-width:1.6;stroke-linejoin:round;vector-effect:non-scaling-stroke}.chart path.area{fill:var(--accent);fill-opacity:.14;stroke:none}.chart line{stroke:var(--faint);stroke-width:1;stroke-dasharray:3 3;vector-effect:non-scaling-stroke;opacity:.8}.chart.high b,.chart.high small{color:var(--warn)}.chart.high path{stroke:var(--warn)}.chart.high path.area{fill:var(--warn)}#alarms{flex:none;max-height:40%;overflow-y:auto;padding:10px 12px;border-bottom:1px solid var(--line)}#alarms>p{display:flex;align-items:center;gap:8px;color:var(--faint)}#alarms>p svg{width:15px;height:15px;color:var(--good)}.alarm{border-left:4px solid;border-radius:7px;color:var(--ink)}.alarm+.alarm{margin-top:6px}.alarm .what{display:flex;gap:10px;width:100%;padding:8px 11px;text-align:left;line-height:1.35;border:0;background:none;color:inherit}.alarm b{font-weight:650}.alarm small{display:block;padding:0 11px 6px 38px;color:var(--faint)}.alarm small:empty{display:none}.alarm svg{flex:none;width:17px;height:17px;margin-top:1px}.alarm.acknowledged b{font-weight:500}.alarm.dismissed{opacity:.6}.actions{display:flex;flex-wrap:wrap;gap:6px}.actions:empty{display:none}.alarm .actions{padding:0 11px 9px 38px}.actions button,.dismissed:is(button){padding:3px 10px;border:1px solid color-mix(in srgb,var(--ink) 25%,transparent);border-radius:7px;background:none;font-size:12.5px}.actions button:hover{background:color-mix(in srgb,var(--ink) 8%,transparent)}.actions .first{background:var(--accent);border-color:var(--accent);color:var(--paper);font-weight:600}.actions .first:hover{background:color-mix(in srgb,var(--accent) 85%,var(--ink))}.dismissed:is(button){margin-top:8px;border:0;padding:0;color:var(--faint);text-decoration:underline}#update{flex:none;padding:10px 14px;border-bottom:1px solid var(--line)}#update .bar{height:6px;margin-top:7px;border-radius:3px;background:var(--line);overflow:hidden}#update .bar i{display:block;height:100%;background:var(--accent);transition:width .3s}#update .actions{margin-top:8px}.past #update .actions{display:none}#update.failed p{color:var(--warn)}.rename{position:absolute;z-index:8;left:0;top:0;width:248px;padding:12px 14px;background:var(--paper);border:1px solid var(--accent);border-radius:11px;box-shadow:var(--shadow)}.rename b{display:block;overflow-wrap:anywhere}.rename label{display:block;margin-top:8px;font-size:12px;color:var(--faint)}.rename input{display:block;width:100%;height:30px;margin-top:2px;padding:0 8px;border:1px solid var(--line);border-radius:7px;background:var(--map);color:var(--ink);font-size:13.5px}.rename .problem{margin-top:7px;color:var(--warn);font-size:12.5px}.rename .actions{margin-top:10px}.alarm.forming,.alarm.share{background:var(--warn-soft);border-color:var(--warn)}.alarm.forming svg,.alarm.share svg{color:var(--warn)}.alarm.vanishing{background:var(--quiet-soft);border-color:var(--faint)}.alarm.vanishing svg{color:var(--faint)}.alarm.stale{background:var(--amber-soft);border-color:var(--amber)}.alarm.stale svg{color:var(--amber)}.tabs{flex:none;display:flex;gap:18px;padding:0 14px;border-bottom:1px solid var(--line)}.tabs button{min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;padding:8px 2px 7px;border:0;border-bottom:2px solid transparent;background:none;color:var(--faint);font-weight:600}.tabs button[aria-selected=true]{color:var(--ink);border-color:var(--accent)}#feed{flex:1;min-height:0;overflow-y:auto;overflow-anchor:none;padding:4px 0}#feed>.empty{padding:18px 16px;color:var(--faint);line-height:1.5}#feed>.empty code{display:block;margin-top:8px;padding:8px 10px;font-size:11.5px;line-height:1.5;background:var(--raised);border-radius:7px;overflow-wrap:anywhere;color:var(--ink)}.item{display:flex;gap:9px;align-items:baseline;width:100%;padding:4px 14px;border:0;background:none;text-align:left;line-height:1.35}.item:hover{background:var(--raised)}.item:focus-visible{outline-offset:-2px}.item svg{flex:none;width:14px;height:14px;align-self:flex-start;margin-top:2px;color:var(--faint)}.item span{flex:1;min-width:0;overflow-wrap:anywhere;color:var(--faint)}.item b{font-weight:600;color:var(--ink)}.item time{flex:none;font-size:11.5px;color:var(--faint)}.item.warm span{color:var(--ink)}.item.warm svg{color:var(--warn)}.item.change span{color:var(--ink)}.item.change svg{color:var(--accent)}.item.big{padding:8px 14px;margin:3px 0;font-weight:600}.item.big time{font-weight:400}.item.big span{color:var(--ink)}.item.forming{background:var(--warn-soft)}.item.forming svg{color:var(--warn)}.item.map-updated{background:color-mix(in srgb,var(--accent) 10%,transparent)}.item.map-updated svg{color:var(--accent)}.item.vanishing,.item.recovered{background:var(--quiet-soft)}.item.stale{background:var(--amber-soft)}.item.stale svg{color:var(--amber)}#selection,#compare{flex:1;min-height:0;overflow:auto}:is(#selection,#compare) .bar{position:sticky;top:0;z-index:1;display:flex;align-items:center;gap:8px;padding:9px 14px;background:var(--paper);border-bottom:1px solid var(--line)}:is(#selection,#compare) .bar b{flex:1;font-weight:600}:is(#selection,#compare) .bar button{padding:3px 11px;border:1px solid var(--line);border-radius:7px;background:var(--paper)}:is(#selection,#compare) .bar button.first{background:var(--accent);border-color:var(--accent);color:var(--paper);font-weight:600}:is(#selection,#compare) .bar button:disabled{opacity:.5}#compare .actions{padding:10px 14px 0}#compare .actions button{text-align:left}.stretches{padding:10px 14px 0}.stretches li{display:flex;gap:7px;align-items:center}.stretches i{width:12px;height:12px;border-radius:2px;background:var(--lost)}.stretches i.b{background:var(--gained)}.stretches span{flex:1}.stretches small{color:var(--faint)}#compare .sum{padding:9px 14px;font-weight:600;line-height:1.35}#compare .sum.problem{color:var(--warn)}.changes li{display:grid;grid-template-columns:16px 1fr auto;gap:0 6px;align-items:baseline;padding:4px 14px;border-top:1px solid var(--line)}.changes i{font-style:normal;font-size:11px;color:var(--faint)}.changes i.gained{color:var(--gained)}.changes i.lost{color:var(--lost)}.changes b,.changes button{min-width:0;padding:0;border:0;background:none;font-weight:600;text-align:left;overflow-wrap:anywhere}.changes button:hover{text-decoration:underline}.changes small{grid-column:2 / -1;color:var(--faint);font-size:12px}.changes .same{display:block;color:var(--faint)}#compare .test{padding:7px 14px;border-top:1px solid var(--line);color:var(--faint);font-size:12px;line-height:1.35}#compare h2{display:flex;justify-content:space-between;padding:9px 14px 3px;border-top:1px solid var(--line);color:var(--ink)}#compare h2 small{font-weight:400;color:var(--faint)}#compare .none{padding:5px 14px 9px;color:var(--faint)}#compare .none:empty{display:none}.summary{padding:10px 14px;border-bottom:1px solid var(--line)}.summary h3{margin:0 0 6px;font-size:13px;font-weight:600;line-height:1.35}.summary .faint{color:var(--faint);font-size:12.5px;line-height:1.4}.keywords{display:flex;flex-wrap:wrap;gap:4px;margin:0 0 6px}.keywords span{padding:1px 8px;border:1px solid var(--line);border-radius:10px;font-size:12.5px;overflow-wrap:anywhere}.effects{display:grid;grid-template-columns:minmax(70px,31%) 1fr auto;margin:0;font-size:12.5px;line-height:1.35}.effects>*{margin:0;padding:3px 8px 3px 0;border-top:1px solid var(--line);overflow-wrap:anywhere}.effects dt{font-weight:500}.effects .effect{padding-right:0;text-align:right;white-space:nowrap;color:var(--faint);font-variant-numeric:tabular-nums}#selection .none{padding:18px 16px;color:var(--faint);line-height:1.5}#selection .none:empty{display:none}table{width:100%;border-collapse:collapse;font-size:12.5px;table-layout:fixed}th{padding:6px 6px 4px;text-align:left;font-weight:500;color:var(--faint);font-size:11.5px}td{padding:3px 6px;border-top:1px solid var(--line);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}th:first-child,td:first-child{padding-left:14px}th:last-child,td:last-child{padding-right:14px;text-align:right}th:nth-child(1){width:28%}th:nth-child(4){width:92px}th:nth-child(5){width:62px}td button{max-width:100%;padding:0;border:0;background:none;font-weight:600;overflow:hidden;text-overflow:ellipsis;vertical-align:bottom}td button:hover{text-decoration:underline}td.outlier{color:var(--warn);font-weight:600}tr.base td{color:var(--faint)}#help{position:absolute;z-index:30;right:14px;top:62px;padding:14px 20px 16px;background:var(--paper);border:1px solid var(--line);border-radius:11px;box-shadow:var(--shadow)}#help dl{display:grid;grid-template-columns:auto auto;gap:4px 20px;margin-top:8px}#help p{max-width:270px;margin-top:10px;padding-top:10px;border-top:1px solid var(--line);color:var(--faint);font-size:12.5px}#help dt{font-weight:600}@media(min-width:1500px){main{grid-template-columns:200px minmax(0,1fr) 392px}.chart b{font-size:23px}.chart svg{height:42px}.status{font-size:17px}}@media(max-width:1279px){#compare-button span{display:none}}@media(max-width:1080px){main{grid-template-columns:minmax(0,1fr) 300px;grid-template-rows:auto minmax(0,1fr)}#legend{grid-column:1 / -1;display:flex;flex-wrap:wrap;align-items:center;gap:1px;max-height:74px;padding:5px 10px;border-right:0;border-bottom:1px solid var(--line)}#legend>div{display:contents}#legend ul{display:contents}#legend h2,.hint{display:none}.class{width:auto}.all,.by{margin:0 8px}#legend>.by{display:flex;width:148px}.item{gap:7px;padding:4px 10px;font-size:12.5px}.item:not(.big) span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}.item time{font-size:11px}.brand{max-width:130px}#search{width:130px}.status{font-size:14.5px}.chart{padding:8px 9px}.tabs{gap:10px;padding:0 10px;font-size:12.5px}.chart b{font-size:17px}}@media(max-width:720px){html,body{height:auto;min-height:100%}header{flex-wrap:wrap;height:auto;padding:8px 12px;gap:8px}.brand{flex:1;max-width:none}.status{order:5;flex-basis:100%}#search{order:6;flex:1}#query,.rename input{font-size:16px}main{display:flex;flex-direction:column}#centre{height:72vh;flex:none}#legend{max-height:136px;flex:none}#side{border-left:0;border-top:1px solid var(--line);height:90vh;flex:none}#replay{flex-wrap:wrap;height:auto;padding:8px 12px}.track{order:-1;flex-basis:100%}#moment{flex:1;min-width:0;text-align:left;white-space:normal}#replay.comparing{height:auto;padding-top:8px;align-items:center}#moment small,.speed span{display:none}}@media(prefers-reduced-motion:reduce){*:not(#unopened),*:before,*:after{animation:none!important;transition:none!important}}', _i = 3;
class Di {
  constructor(t) {
    this.shown = t, this.latest = t.info, this.keep(t.info.version, Promise.resolve({ ...t }));
  }
  /** What the server serves now, whatever is shown. */
  latest;
  kept = /* @__PURE__ */ new Map();
  /** Whether the version that is shown is the one that the server answers about. */
  get current() {
    return this.shown.info.version === this.latest.version;
  }
  get(t) {
    const e = this.kept.get(t);
    if (e) return e;
    const s = Promise.all([H.map(t), H.columns(t)]).then(([i, n]) => ({ info: i, columns: n }));
    return s.catch(() => this.kept.delete(t)), this.keep(t, s);
  }
  keep(t, e) {
    return this.kept.set(t, e), this.kept.size > _i && this.kept.delete(this.kept.keys().next().value), e;
  }
  /** Shows another version; gives the one that was shown. */
  show(t) {
    const e = { ...this.shown };
    return Object.assign(this.shown, t), e;
  }
}
const Fi = ":host{display:block;font-variant-numeric:tabular-nums}.widget{display:grid;grid-template-columns:168px minmax(0,1fr);border:1px solid var(--line);border-radius:8px;overflow:hidden;background:var(--paper);color:var(--ink);font:13.5px/1.4 Inter,system-ui,-apple-system,Segoe UI,Roboto,Helvetica Neue,Arial,sans-serif;container-type:inline-size}.widget #legend,.widget #stage{min-height:0;height:100%}.widget .hint{display:none}#selected{position:absolute;left:12px;bottom:10px;padding:2px 10px;border-radius:99px;background:var(--raised);font-size:12.5px;font-weight:600;pointer-events:none}#selected:empty{display:none}.ramped>.ramp+ul{display:none}.ramp{margin:0 8px}.ramp i{display:block;height:12px;border-radius:4px}.ramp p{display:flex;justify-content:space-between;margin-top:3px;font-size:12px;color:var(--faint)}.ramp small{display:block;color:var(--faint);font-size:11.5px;line-height:1.3}@container (max-width: 560px){#legend{display:none}#stage{grid-column:1 / -1}}";
function Ui() {
  const o = new CSSStyleSheet();
  o.replaceSync(Bi.replace(/:root(\[[^\]]+\])/g, ":host($1)").replaceAll(":root", ":host") + Fi);
  for (let t = o.cssRules.length - 1; t >= 0; t--) {
    const e = o.cssRules[t];
    e instanceof CSSMediaRule && e.conditionText.includes("width") && o.deleteRule(t);
  }
  return o;
}
const zt = () => performance.now() / 1e3, St = () => Date.now() / 1e3;
function ji(o, t) {
  o.adoptedStyleSheets = [Ui()];
  const e = f("template");
  e.innerHTML = Ts;
  const s = f("div", "widget");
  s.style.height = `${t}px`;
  const i = (d, u) => Object.assign(f(d), { id: u }), n = i("div", "stage"), r = i("canvas", "over");
  r.tabIndex = 0, r.setAttribute("role", "application"), r.setAttribute("aria-label", "The map. Drag to move it, use the wheel to zoom, shift and drag to select.");
  const a = Object.assign(i("p", "turn-hint"), { textContent: "Drag to turn the map", hidden: !0 }), l = Object.assign(i("div", "card"), { hidden: !0 });
  l.setAttribute("role", "tooltip");
  const h = i("p", "said");
  h.className = "unseen", h.setAttribute("aria-live", "polite"), n.append(i("canvas", "base"), i("canvas", "live"), r, i("p", "selected"), Gi(), a, l, h);
  const c = i("aside", "legend");
  c.setAttribute("aria-label", "Legend"), s.append(c, n), o.append(e.content, s);
}
function Gi() {
  const o = f("div", "tools");
  o.setAttribute("role", "toolbar");
  for (const [t, e, s] of [["lasso", "Lasso (or shift and drag)", "lasso"], ["turn", "Drag to turn the map", "turn"], ["nearer", "Zoom in", "+"], ["farther", "Zoom out", "−"], ["fit", "Show the whole map", "fit"]]) {
    const i = L("", s.length === 1 ? s : "", () => {
    });
    s.length > 1 && i.append(ue(s)), Object.assign(i, { id: t, title: e }).setAttribute("aria-label", e), o.append(i);
  }
  return o;
}
function de() {
  const { body: o, documentElement: t } = document;
  return o.dataset.jpThemeLight ? o.dataset.jpThemeLight === "false" : o.dataset.vscodeThemeKind ? !o.dataset.vscodeThemeKind.includes("light") : t.getAttribute("theme") ? t.getAttribute("theme") === "dark" : t.dataset.theme ?? o.dataset.theme ? (t.dataset.theme ?? o.dataset.theme) === "dark" : t.classList.contains("dark") || o.classList.contains("dark") ? !0 : matchMedia("(prefers-color-scheme: dark)").matches && !t.classList.contains("light");
}
class Wi {
  constructor(t) {
    this.host = t, this.current = this.read();
    const e = { attributes: !0, attributeFilter: ["class", "data-jp-theme-light", "data-vscode-theme-kind", "data-theme", "theme"] };
    this.observer.observe(document.body, e), this.observer.observe(document.documentElement, e);
  }
  current;
  listeners = [];
  observer = new MutationObserver(() => this.refresh());
  onChange(t) {
    this.listeners.push(t);
  }
  close() {
    this.observer.disconnect();
  }
  read() {
    const t = de();
    return this.host.dataset.theme = t ? "dark" : "light", Gs(this.host, t);
  }
  refresh() {
    if (de() !== this.current.dark) {
      this.current = this.read();
      for (const t of this.listeners) t();
    }
  }
}
class Hi {
  constructor(t, e) {
    this.model = t, this.kernel = new fs(t), this.theme = new Wi(e);
    const s = pe(J(t.get("_places"))), i = t.get("_info");
    this.shown = { info: i, columns: s }, this.classify(), this.look = new ds(this.shown, this.state), this.stage = new Pi(this.shown, this.state, this.look, this.theme, zt), this.legendRoot = T("legend"), this.legend = new cs(this.legendRoot, this.look, () => this.stage.recolour(), () => {
    }), this.ramp = new bs(this.legendRoot), this.count = T("selected");
    const n = Object.assign(f("div"), { hidden: !0 });
    this.selection = new Es(n, f("span"), this.state, this.shown, this.look, { goPoint: () => {
    }, goRow: () => {
    }, changed: () => this.selected() });
    const r = (l) => {
      a.textContent = l;
    }, a = T("said");
    this.guide = new rs(this.stage, this.state, new Di(this.shown), this.look, this.selection, r, this.kernel), this.pointer = new ws(this.stage, T("lasso"), T("turn"), {
      hover: (l, h, c) => this.guide.hover(l, h, c),
      click: (l, h) => this.guide.click(l, h),
      name: () => {
      },
      lasso: (l) => {
        const h = Ue(l, 2).map(({ x: c, y: d }) => this.stage.camera.toPlane(c, d));
        this.selection.lasso(h, this.stage.rows(), (c) => {
          const d = this.stage.screen(c);
          return this.stage.camera.toPlane(d.x, d.y);
        }), this.stage.scene.selected.outline = h;
      }
    }), this.listen(), this.coloured(), this.land(!1), this.choose(), this.watch = new IntersectionObserver(([{ isIntersecting: l }]) => {
      this.seen = l, l && this.frame();
    }), this.watch.observe(e), this.frame();
  }
  state = new Ni();
  shown;
  look;
  stage;
  legend;
  ramp;
  selection;
  guide;
  pointer;
  kernel;
  theme;
  count;
  legendRoot;
  n = 0;
  before = zt();
  /** The selection came from Python: it need not be told there. */
  told = !1;
  open = !0;
  seen = !0;
  watch;
  listen() {
    const t = (e) => () => {
      this.stage.camera.zoomAt(e), this.stage.view();
    };
    T("nearer").addEventListener("click", t(1.5)), T("farther").addEventListener("click", t(1 / 1.5)), T("fit").addEventListener("click", () => this.stage.fit()), T("over").addEventListener("keydown", ({ key: e }) => {
      e === "Escape" && this.selection.clear();
    }), this.theme.onChange(() => this.legend.fill()), this.kernel.on("change:_color", () => {
      this.classify(), this.look.restart(), this.coloured(), this.stage.reclassify(), this.guide.renew();
    }), this.kernel.on("change:_placed", () => this.land(!0)), this.kernel.on("change:_selected", () => this.choose());
  }
  /** The clusters that the rows are coloured by. */
  classify() {
    const { clusters: t, codes: e } = this.model.get("_color");
    this.shown.info = { ...this.shown.info, clusters: t }, this.shown.columns = { ...this.shown.columns, cluster: new Uint32Array(J(e)) };
  }
  /** The legend of the colours. */
  coloured() {
    const { ramp: t, clusters: e, title: s, labels: i } = this.model.get("_color");
    this.look.clustered = i === !0, this.legend.fill(), this.ramp.show(t && { ...t, colours: e.map(({ colour: n }) => n ?? [0, 0, 0]) }, s);
    for (const n of this.state.points.values()) n.cluster = n.verdict === "outlier" ? null : this.clusterNear(n.id);
    this.legend.count(this.state);
  }
  nearest = /* @__PURE__ */ new Map();
  /** A placed row is in the cluster of the nearest row of the map; what that row has in another column is no value of its own. */
  clusterNear(t) {
    const e = this.nearest.get(t);
    return e === void 0 || !this.look.clustered ? null : this.look.clusterOfRow(e);
  }
  /** Placed rows: those that are new land before the person's eyes. */
  land(t) {
    const e = this.model.get("_placed"), s = /* @__PURE__ */ new Set();
    for (const { point: i, nearest: n } of ms(e, us)) {
      const { id: r } = i;
      s.add(r), this.nearest.set(r, n);
      const a = this.state.points.get(r);
      if (a && a.x === i.x && a.y === i.y && a.verdict === i.verdict && a.group === i.group) continue;
      const h = {
        ...i,
        cluster: i.verdict === "outlier" ? null : this.clusterNear(r),
        n: ++this.n,
        t: St(),
        kind: a ? "moved" : "appeared",
        nearest: n,
        from: a ?? null
      };
      this.look.meet(h.label);
      const c = this.state.apply(h);
      t && this.stage.play(h, c);
    }
    for (const i of [...this.state.points.keys()].filter((n) => !s.has(n))) this.remove(i);
    t || this.stage.reload(St()), this.legend.fill(), this.legend.count(this.state);
  }
  remove(t) {
    const e = this.state.points.get(t);
    if (!e) return;
    const s = { n: ++this.n, t: St(), kind: "removed", id: t, from: e };
    this.stage.play(s, this.state.apply(s));
  }
  /** The selection as Python has it. */
  choose() {
    const { rows: t, placed: e } = this.model.get("_selected"), s = [...this.state.points.keys()];
    this.told = !0, this.selection.choose([...new Uint32Array(J(e))].map((i) => s[i]).filter((i) => i !== void 0), [...new Uint32Array(J(t))]), this.stage.scene.selected.outline = [], this.told = !1;
  }
  /** The selection changed: here and in Python. */
  selected() {
    const { ids: t, rows: e, size: s } = this.selection;
    if (Object.assign(this.stage.scene.selected, { ids: t, rows: e, ...s === 0 && { outline: [] } }), this.stage.touch(), this.count.textContent = s > 0 ? `${s.toLocaleString("en")} selected` : "", this.told) return;
    const i = new Map([...this.state.points.keys()].map((r, a) => [r, a])), n = Uint32Array.from([...t].flatMap((r) => i.get(r) ?? []));
    this.kernel.tell("_selected", { rows: new DataView(Uint32Array.from(e).buffer), placed: new DataView(n.buffer) });
  }
  frame() {
    if (!this.open || !this.seen) return;
    requestAnimationFrame(() => this.frame());
    const t = zt();
    this.pointer.frame(), this.guide.frame(), this.stage.frame(t, t - this.before), this.before = t;
  }
  close() {
    this.open = !1, this.watch.disconnect(), this.theme.close(), this.kernel.close(), this.stage.close();
  }
}
function Vi({ model: o, el: t }) {
  const e = f("div");
  t.append(e);
  const s = e.attachShadow({ mode: "open" });
  ji(s, Number(o.get("height")));
  let i = null;
  const n = new ResizeObserver(() => {
    e.clientWidth !== 0 && (n.disconnect(), i = Ie(s, () => new Hi(o, e)));
  });
  return n.observe(e), () => {
    n.disconnect(), i?.close();
  };
}
const Yi = { render: Vi };
export {
  Yi as default
};
