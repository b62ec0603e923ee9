/** What the browser keeps for this page. Reading and writing are done at once, so that nothing typed is lost when the page goes. */
export class BrowserStorage {
  readonly #storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;

  constructor(storage: Pick<Storage, "getItem" | "setItem" | "removeItem">) {
    this.#storage = storage;
  }

  /** Undefined where nothing is kept, or nothing that can be read. */
  read(key: string): unknown {
    try {
      const text = this.#storage.getItem(nameOf(key));
      return text === null ? undefined : (JSON.parse(text) as unknown);
    } catch {
      // Somebody else wrote there, or the browser keeps nothing for pages: as if nothing was kept.
      return undefined;
    }
  }

  /** False when the browser refuses, for instance because it is full. */
  write(key: string, value: unknown): boolean {
    try {
      this.#storage.setItem(nameOf(key), JSON.stringify(value));
      return true;
    } catch {
      // The page goes on without; who must not lose the value looks at the answer.
      return false;
    }
  }

  remove(key: string): void {
    try {
      this.#storage.removeItem(nameOf(key));
    } catch {
      // Where nothing can be kept, nothing is left to remove.
    }
  }
}

function nameOf(key: string): string {
  return `convoke.${key}`;
}
