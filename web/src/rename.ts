// A small form beside a name: another title for a cluster or an outlier group.

import { api } from "./api";
import { button, make } from "./dom";
import type { Rect } from "./geometry";
import { setWho, who } from "./who";
import { legible } from "./words";

const WIDTH = 248;

export class Rename {
  private readonly form = make("form", "rename");
  private readonly heading = make("b");
  private readonly input = make("input");
  private readonly who = make("input");
  private readonly problem = make("p", "problem");
  private readonly remove = button("", "Take it away", () => void this.send(null));
  private id = "";
  /** What had the focus before. */
  private from: Element | null = null;

  constructor(private readonly stage: HTMLElement) {
    const field = (input: HTMLInputElement, name: string) => {
      const label = make("label", "", name);
      label.append(input);
      input.maxLength = 80;
      input.autocomplete = "off";
      return label;
    };
    this.form.hidden = true;
    this.form.setAttribute("aria-label", "Rename");
    const save = make("button", "first", "Save");
    save.type = "submit";
    const actions = make("div", "actions");
    actions.append(save, button("", "Cancel", () => this.close()), this.remove);
    this.form.append(this.heading, field(this.input, "Title"), field(this.who, "Your name (optional)"), this.problem, actions);
    stage.append(this.form);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.send(this.input.value.trim() || null);
    });
    this.form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
      event.stopPropagation();
    });
    document.addEventListener("pointerdown", ({ target }) => {
      if (target instanceof Node && !this.form.contains(target)) this.form.hidden = true;
    });
  }

  /** Opens beside a part of the stage. `title` is what it is called so far, null where only its name is known. */
  open(id: string, name: string, title: string | null, { x, y, width, height }: Rect): void {
    this.id = id;
    this.from = document.activeElement;
    this.heading.textContent = `Rename ${legible(name)}`;
    this.input.value = title ?? "";
    this.input.placeholder = name;
    this.who.value = who() ?? "";
    this.problem.textContent = "";
    this.remove.hidden = title === null;
    this.form.hidden = false;
    const left = Math.min(Math.max(x + width / 2 - WIDTH / 2, 8), this.stage.clientWidth - WIDTH - 8);
    const below = y + height + 8;
    const top = below + this.form.offsetHeight < this.stage.clientHeight - 8 ? below : Math.max(8, y - this.form.offsetHeight - 8);
    this.form.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
    this.input.focus();
    this.input.select();
  }

  private close(): void {
    this.form.hidden = true;
    if (this.from instanceof HTMLElement) this.from.focus();
  }

  private async send(title: string | null): Promise<void> {
    setWho(this.who.value);
    try {
      await api.rename(this.id, title, who());
      this.close();
    } catch (error) {
      this.problem.textContent = error instanceof Error ? error.message : String(error);
    }
  }
}
