// What sets some rows apart from all others: the definitions of lion-tsne's explain, which a test compares. Nothing here knows
// the page. A column is { name, kind, count, mean, variance, levels, codes } for numbers and dates, where the levels are less the
// mean, and { name, kind, names, codes } for categories; a code beyond the last means that there is no value.

// A smaller effect is not worth telling, and it is at least so many times its standard error.
const [LEAST_EFFECT, EFFECT_ERRORS] = [0.2, 3];
// Keywords: more rows than this share have a stop word; a keyword is in so many rows at least, in so many times the share of the
// other rows, and differs by so many standard errors.
const [STOP_WORD, FEWEST_ROWS, LIFT, WORD_ERRORS] = [0.5, 3, 1.5, 4];
const [MOST_EFFECTS, MOST_KEYWORDS] = [8, 10];

const isTelling = (effect, error) =>
  Number.isFinite(effect) && Math.abs(effect) >= LEAST_EFFECT && Math.abs(effect) >= EFFECT_ERRORS * error;

// The standard error of a difference of two shares (Agresti & Caffo 2000).
function shareError(withIt, rows, withOutside, outside) {
  const variance = (count, of) => {
    const share = (count + 1) / (of + 2);
    return (share * (1 - share)) / (of + 2);
  };
  return Math.sqrt(variance(withIt, rows) + variance(withOutside, outside));
}

function numberEffect({ name, kind, count, mean, variance, levels, codes }, rows) {
  if (!(count >= 2 && variance > 0)) return null;
  const inside = { count: 0, sum: 0, squares: 0 };
  for (const row of rows) {
    if (codes[row] >= levels.length) continue;
    const value = levels[codes[row]];
    inside.count++;
    inside.sum += value;
    inside.squares += value * value;
  }
  const outside = { count: count - inside.count, sum: -inside.sum, squares: variance * (count - 1) - inside.squares };
  const meanOf = (side) => side.sum / side.count;
  // Of a single row nothing is known but that it varies as the column does.
  const spread = (side) => {
    const own = Math.max(0, (side.squares - side.sum ** 2 / side.count) / (side.count - 1));
    return (side.count >= 2 ? own : variance) / side.count;
  };
  const difference = meanOf(inside) - meanOf(outside);
  const deviation = Math.sqrt(variance);
  const [effect, error] = [difference / deviation, Math.sqrt(spread(inside) + spread(outside)) / deviation];
  if (!isTelling(effect, error)) return null;
  return { column: name, kind, value: null, effect, error, difference };
}

// The medians of both sides, by counting levels.
function medians({ mean, levels, codes }, rows) {
  const [inside, outside] = [new Uint32Array(levels.length), new Uint32Array(levels.length)];
  for (let row = 0; row < codes.length; row++) if (codes[row] < levels.length) outside[codes[row]]++;
  for (const row of rows) {
    if (codes[row] >= levels.length) continue;
    inside[codes[row]]++;
    outside[codes[row]]--;
  }
  return [inside, outside].map((counts) => {
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) return NaN;
    const at = (rank) => {
      let level = 0;
      for (let before = counts[0]; before <= rank; before += counts[++level]);
      return mean + levels[level];
    };
    return (at((total - 1) >> 1) + at(total >> 1)) / 2;
  });
}

function categoryEffect({ name, kind, names, codes }, rows) {
  const count = (each) => {
    const counts = new Uint32Array(names.length + 1);
    each((row) => counts[Math.min(codes[row], names.length)]++);
    return counts.subarray(0, names.length);
  };
  const all = count((tell) => codes.forEach((_, row) => tell(row)));
  const here = count((tell) => rows.forEach((row) => tell(row)));
  const sum = (counts) => counts.reduce((total, some) => total + some, 0);
  const [inside, filled] = [sum(here), sum(all)];
  const outside = filled - inside;
  let best = null;
  names.forEach((value, code) => {
    const [a, b] = [here[code], all[code] - here[code]];
    const share = (a + b) / filled;
    const deviation = Math.sqrt(share * (1 - share));
    const difference = a / inside - b / outside;
    const [effect, error] = [difference / deviation, shareError(a, inside, b, outside) / deviation];
    if (!isTelling(effect, error)) return;
    // Of two that are as strong but for rounding, the one that the rows have.
    const strength = Math.round(1e9 * Math.abs(effect)) - Math.round(1e9 * Math.abs(best?.effect ?? 0));
    const isStronger = strength > 0 || (strength === 0 && effect > best.effect);
    if (isStronger) best = { column: name, kind, value, effect, error, difference, inside: a / inside, outside: b / outside };
  });
  return best;
}

// The columns that set rows apart, the strongest first.
function effectsOf(columns, rows) {
  const found = columns
    .map((column) => ({ column, effect: column.kind === "category" ? categoryEffect(column, rows) : numberEffect(column, rows) }))
    .filter(({ effect }) => effect !== null)
    .sort((a, b) => Math.abs(b.effect.effect) - Math.abs(a.effect.effect))
    .slice(0, MOST_EFFECTS);
  return found.map(({ column, effect }) => {
    if (column.kind === "category") return effect;
    const [inside, outside] = medians(column, rows);
    return { ...effect, inside, outside };
  });
}

// Whether two words are the same but for an ending of at most two letters: car and cars.
function isVariant(a, b) {
  const [short, long] = [Array.from(a), Array.from(b)].sort((x, y) => x.length - y.length);
  return short.length >= 3 && long.length - short.length <= 2 && short.every((sign, k) => sign === long[k]);
}

// The words that set the texts of rows apart, the strongest first: class-based TF-IDF with these rows as the one class.
function keywordsOf(corpus, rows) {
  const most = Math.max(Math.floor(corpus.rows * STOP_WORD), FEWEST_ROWS);
  const isKept = (count) => count >= FEWEST_ROWS && count <= most;
  const average = corpus.rowsWith.reduce((sum, count) => sum + (isKept(count) ? count : 0), 0);
  const [inside, outside] = [rows.length, corpus.rows - rows.length];
  const found = [];
  corpus.count(rows).forEach((here, at) => {
    const all = corpus.rowsWith[at];
    if (here < FEWEST_ROWS || !isKept(all)) return;
    const [share, other] = [here / inside, outside > 0 ? (all - here) / outside : 0];
    const error = shareError(here, inside, all - here, outside);
    if (share < LIFT * other || share - other < WORD_ERRORS * error) return;
    found.push({ word: corpus.words[at], share, share_outside: other, error, score: share * Math.log(1 + average / all) });
  });
  found.sort((a, b) => b.score - a.score || (a.word < b.word ? -1 : 1));
  const kept = [];
  for (const keyword of found) {
    if (kept.length === MOST_KEYWORDS) break;
    if (!kept.some(({ word }) => isVariant(word, keyword.word))) kept.push(keyword);
  }
  return kept;
}
