/** One timer for everything that is looked at equally often; it stands while there is nothing. */
export class SharedTimer<Item> {
  readonly #everyMs: number;
  readonly #look: (item: Item) => void;
  readonly #items = new Set<Item>();
  #timer: NodeJS.Timeout | undefined;

  constructor(everyMs: number, look: (item: Item) => void) {
    this.#everyMs = everyMs;
    this.#look = look;
  }

  add(item: Item): void {
    this.#items.add(item);
    this.#timer ??= setInterval(() => this.#lookAtAll(), this.#everyMs).unref();
  }

  delete(item: Item): void {
    this.#items.delete(item);
    if (this.#items.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #lookAtAll(): void {
    for (const item of this.#items) this.#look(item);
  }
}
