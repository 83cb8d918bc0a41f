// Colours: the same as in the pictures and pages that `lion` writes.

export type Rgb = readonly [number, number, number];

const hex = (code: number): Rgb => [(code >> 16) & 255, (code >> 8) & 255, code & 255];

/** One colour per class, chosen so that eyes of every kind tell them apart on white and on near-black. */
export const CLASSES: readonly Rgb[] = [
  0x467fb3, 0xfab72a, 0xa21c68, 0x12deaa, 0x5f3cc5, 0xdf7f7a, 0x7c9217, 0xb471fa, 0x845012, 0xaac4f9,
  0xd03275, 0x47b5fa, 0x7db20d, 0xb38ccc, 0x82743a, 0xed83ea, 0xb25ca0, 0xc6a670, 0x3aaca8, 0xe3aaca,
].map(hex);
/** Classes too many for a colour of their own. */
export const OTHER = hex(0x8a8d91);
/** Points in no cluster. */
export const NONE = hex(0xa9adb3);
/** Outliers. */
export const OUTLIER = hex(0xff3b00);

export const mix = (a: Rgb, b: Rgb, share: number): Rgb =>
  [0, 1, 2].map((c) => Math.round(a[c] + (b[c] - a[c]) * share)) as unknown as Rgb;
export const css = (colour: Rgb, alpha = 1): string => `rgb(${colour.join(" ")} / ${alpha})`;

/** A colour as it must be to show: the deep ones are lifted on dark paper. */
export function onPaper(colour: Rgb, dark: boolean): Rgb {
  const light = (0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]) / 255;
  return dark ? mix(colour, [255, 255, 255], Math.max(0, 0.48 - light) * 0.9) : colour;
}

/** Which colour each class has: in their order while the colours suffice, else the largest have one. */
export function colourClasses(classes: readonly { rows: number }[]): Rgb[] {
  if (classes.length <= CLASSES.length) return classes.map((_, k) => CLASSES[k]);
  const bySize = classes.map((_, k) => k).sort((a, b) => classes[b].rows - classes[a].rows || a - b);
  const colours = classes.map(() => OTHER);
  bySize.slice(0, CLASSES.length).forEach((k, rank) => { colours[k] = CLASSES[rank]; });
  return colours;
}
