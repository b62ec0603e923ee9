/** Values by their keys. When all together are larger than `max`, those go that were not used for longest. */
export class BoundedCache<Value> {
  readonly #max: number;
  readonly #sizeOf: (value: Value, key: string) => number;
  /** The longest unused first. */
  readonly #values = new Map<string, Value>();
  #size = 0;

  /** Without `sizeOf` each value has the size 1. */
  constructor(max: number, sizeOf: (value: Value, key: string) => number = () => 1) {
    this.#max = max;
    this.#sizeOf = sizeOf;
  }

  get(key: string): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    this.delete(key);
    this.#values.set(key, value);
    this.#size += this.#sizeOf(value, key);
    for (const oldest of this.#values.keys()) {
      if (this.#size <= this.#max) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#size -= this.#sizeOf(value, key);
    this.#values.delete(key);
  }

  clear(): void {
    this.#values.clear();
    this.#size = 0;
  }
}
