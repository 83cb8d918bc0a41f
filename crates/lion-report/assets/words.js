// The words of texts, in any language: as lion-tsne's explain takes them, which a test compares. Nothing here knows the page.

const [SHORTEST_WORD, LONGEST_WORD] = [2, 40];
const [OTHER, LETTER, DIGIT, UNSPACED, JOINER] = [0, 1, 2, 3, 4];
// Han, Hiragana and Katakana: no spaces between words.
const UNSPACED_SIGN = /[\u3005\u3040-\u30FA\u30FC-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\u{20000}-\u{3FFFF}]/u;
// Marks that are no letters by themselves, and the scripts of India, Thailand and Laos with theirs.
const MARK = /[\u0300-\u036F\u0591-\u05C7\u0610-\u061A\u064B-\u065F\u0900-\u0963\u0966-\u0DFF\u0E00-\u0EFF\u200C\u200D]/u;

function classOfSign(sign) {
  if (sign === "'" || sign === "\u2019") return JOINER;
  if (UNSPACED_SIGN.test(sign)) return UNSPACED;
  if (MARK.test(sign)) return LETTER;
  if (/\p{Alphabetic}/u.test(sign)) return LETTER;
  return /\p{N}/u.test(sign) ? DIGIT : OTHER;
}

// What has been looked up: most texts have few different signs.
const signClasses = new Map();
function signClass(sign) {
  let known = signClasses.get(sign);
  if (known === undefined) signClasses.set(sign, (known = classOfSign(sign)));
  return known;
}
const isHiragana = (sign) => sign >= "\u3040" && sign <= "\u309F";

// Tells every word of a text, in lower case.
function eachWord(text, tell) {
  const signs = Array.from(text);
  let [word, length, letters, before] = ["", 0, 0, null];
  const finish = () => {
    if (letters > 0 && length >= SHORTEST_WORD && length <= LONGEST_WORD) tell(word);
    [word, length, letters] = ["", 0, 0];
  };
  for (let k = 0; k < signs.length; k++) {
    const sign = signs[k];
    const kind = signClass(sign);
    if (kind === LETTER || kind === DIGIT) {
      // Sign by sign: in whole words a Greek sigma at the end would become another.
      const small = sign.toLowerCase();
      word += small;
      length += small.length === 1 ? 1 : Array.from(small).length;
      if (kind === LETTER) letters++;
    } else if (kind === JOINER && letters > 0 && k + 1 < signs.length && signClass(signs[k + 1]) === LETTER) {
      word += "'";
      length++;
    } else {
      finish();
    }
    // Two signs of Hiragana are mostly grammar.
    if (kind === UNSPACED && before !== null && !(isHiragana(before) && isHiragana(sign))) tell(before + sign);
    before = kind === UNSPACED ? sign : null;
  }
  finish();
}

// Which words each row has, each once. Rows are added in order.
class Corpus {
  constructor() {
    this.words = [];
    this.rowsWith = [];
    this.number = new Map();
    this.seen = []; // for each word the last row that had it
    this.ofRows = new Uint32Array(1 << 16);
    this.offsets = [0];
    this.length = 0;
  }

  add(text) {
    const row = this.offsets.length;
    eachWord(text, (word) => {
      let at = this.number.get(word);
      if (at === undefined) {
        this.number.set(word, (at = this.words.length));
        this.words.push(word);
        this.rowsWith.push(0);
        this.seen.push(0);
      }
      if (this.seen[at] === row) return;
      this.seen[at] = row;
      this.rowsWith[at]++;
      if (this.length === this.ofRows.length) {
        const longer = new Uint32Array(2 * this.length);
        longer.set(this.ofRows);
        this.ofRows = longer;
      }
      this.ofRows[this.length++] = at;
    });
    this.offsets.push(this.length);
  }

  get rows() {
    return this.offsets.length - 1;
  }

  // How many of these rows have each word.
  count(rows) {
    const counts = new Uint32Array(this.words.length);
    for (const row of rows) {
      for (let at = this.offsets[row]; at < this.offsets[row + 1]; at++) counts[this.ofRows[at]]++;
    }
    return counts;
  }
}
