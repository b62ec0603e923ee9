const modifiers: ReadonlySet<string> = new Set(["Shift", "Alt", "Control", "Meta"]);

/**
 * Buffers keys pressed before the shortcuts are loaded. Only the newest counts: a user who presses another key has
 * given up the first.
 */
export class EarlyKeys {
  readonly #stop = new AbortController();
  #before: KeyboardEvent | null = null;
  #newest: KeyboardEvent | null = null;

  constructor(target: EventTarget) {
    const onKeyDown = (event: Event): void => {
      const pressed = event as KeyboardEvent;
      if (modifiers.has(pressed.key)) return;
      this.#before = this.#newest;
      this.#newest = pressed;
    };
    target.addEventListener("keydown", onKeyDown, { signal: this.#stop.signal });
  }

  /** Returns the newest key, with a preceding `g`, and stops listening. */
  take(): readonly KeyboardEvent[] {
    this.#stop.abort();
    const keys = [this.#before?.key === "g" ? this.#before : null, this.#newest].filter(
      (key) => key !== null,
    );
    this.#before = null;
    this.#newest = null;
    return keys;
  }
}
