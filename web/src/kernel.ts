// The Python object behind a widget: what it has, what it is told, what it is asked.

import type { CardSource } from "./card";
import type { PointDetail, RowDetail } from "./types";

/** What anywidget gives. */
export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, heard: (...args: never[]) => void): void;
  off(event: string, heard: (...args: never[]) => void): void;
  send(content: unknown): void;
}

/** Milliseconds that an answer may take: a kernel that computes, or is gone, gives none. */
const PATIENCE = 4000;

/** Bytes of their own, aligned for numbers of any size. */
export function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): ArrayBuffer {
  return (buffer as ArrayBuffer).slice(byteOffset, byteOffset + byteLength);
}

export const floats = (view: ArrayBufferView): Float32Array => new Float32Array(bytesOf(view));

export class Kernel implements CardSource {
  private readonly heard: [string, (...args: never[]) => void][] = [];
  private readonly waiting = new Map<number, (answer: never) => void>();
  private asked = 0;

  constructor(private readonly model: Model) {
    this.on("msg:custom", (answer: { question: number; detail: never }) => {
      this.waiting.get(answer.question)?.(answer.detail);
      this.waiting.delete(answer.question);
    });
  }

  on(event: string, heard: (...args: never[]) => void): void {
    this.heard.push([event, heard]);
    this.model.on(event, heard);
  }

  tell(name: string, value: unknown): void {
    this.model.set(name, value);
    this.model.save_changes();
  }

  private ask<T>(question: object): Promise<T> {
    const number = ++this.asked;
    this.model.send({ question: number, ...question });
    return new Promise((answered, failed) => {
      this.waiting.set(number, answered);
      setTimeout(() => {
        this.waiting.delete(number);
        failed(new Error("the kernel gave no answer"));
      }, PATIENCE);
    });
  }

  row(number: number): Promise<RowDetail> {
    return this.ask({ row: number });
  }

  point(id: string): Promise<PointDetail> {
    return this.ask({ point: id });
  }

  close(): void {
    for (const [event, heard] of this.heard) this.model.off(event, heard);
    this.waiting.clear();
  }
}
