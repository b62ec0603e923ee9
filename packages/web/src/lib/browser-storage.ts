/**
 * JSON values of this page in the browser's storage. Access is synchronous, so that nothing typed is lost when the
 * page closes.
 */
export class BrowserStorage {
  readonly #storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;

  constructor(storage: Pick<Storage, "getItem" | "setItem" | "removeItem">) {
    this.#storage = storage;
  }

  /** Undefined if nothing is stored, or it cannot be parsed. */
  read(key: string): unknown {
    try {
      const text = this.#storage.getItem(nameOf(key));
      return text === null ? undefined : (JSON.parse(text) as unknown);
    } catch {
      // Storage is disabled or was changed by other code: as if nothing was stored.
      return undefined;
    }
  }

  /** False if the browser refuses, for example because the quota is exceeded. */
  write(key: string, value: unknown): boolean {
    try {
      this.#storage.setItem(nameOf(key), JSON.stringify(value));
      return true;
    } catch {
      // The page works without it; callers that must not lose the value check the result.
      return false;
    }
  }

  remove(key: string): void {
    try {
      this.#storage.removeItem(nameOf(key));
    } catch {
      // Without storage there is nothing to remove.
    }
  }
}

function nameOf(key: string): string {
  return `convoke.${key}`;
}
