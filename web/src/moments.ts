// Where the slider can stop: after each event or, in a recording of snapshots, after each of them.

/** A snapshot of a recording: what it is called, and its last event. */
export interface RecordedStep { name: string; last: number }

export class Moments {
  constructor(private readonly steps: readonly RecordedStep[] | null) {}

  /** Whether many events happen at once. */
  get together(): boolean {
    return this.steps !== null;
  }

  /** The ends of the slider, of a history after event `first` and up to event `last`. */
  ends(first: number, last: number): [number, number] {
    return this.steps ? [0, this.steps.length] : [first, last];
  }

  /** Where on the slider the moment after event `n` is; within a step, where the step before it ends. */
  position(n: number): number {
    const { steps } = this;
    if (!steps) return n;
    let [low, high] = [0, steps.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (steps[middle].last <= n) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Where on the slider event `n` is shown: where its step ends. */
  place(n: number): number {
    return this.steps ? this.position(n - 1) + 1 : n;
  }

  /** The last event before a position of the slider. */
  event(position: number, first: number): number {
    if (!this.steps) return position;
    return position <= 0 ? first : this.steps[Math.min(position, this.steps.length) - 1].last;
  }

  /** What a position is called, where it has a name. */
  name(position: number): string | null {
    return this.steps?.[position - 1]?.name ?? null;
  }
}
