const modifiers: ReadonlySet<string> = new Set(["Shift", "Alt", "Control", "Meta"]);

/** Keys pressed while nothing knows them yet. Only the newest counts: nobody means what they pressed before they tried again. */
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

  /** Hands them over, once, and hears no more: the newest key, with the `g` before it that may belong to it. */
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
