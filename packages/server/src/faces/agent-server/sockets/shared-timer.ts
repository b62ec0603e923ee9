/** One timer for all items with the same check interval; it is stopped while there are none. */
export class SharedTimer<Item> {
  readonly #everyMs: number;
  readonly #check: (item: Item) => void;
  readonly #items = new Set<Item>();
  #timer: NodeJS.Timeout | undefined;

  constructor(everyMs: number, check: (item: Item) => void) {
    this.#everyMs = everyMs;
    this.#check = check;
  }

  add(item: Item): void {
    this.#items.add(item);
    this.#timer ??= setInterval(() => this.#checkAll(), this.#everyMs).unref();
  }

  delete(item: Item): void {
    this.#items.delete(item);
    if (this.#items.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #checkAll(): void {
    for (const item of this.#items) this.#check(item);
  }
}
