import { createHash } from "node:crypto";
import type { IdForm } from "./address-rules.ts";

/** OpenAI and Bedrock allow 64 characters, Moonshot wants a letter first; all take these. */
const takenName = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/u;

/** A name of a tool as every wire takes it: its own where that is such a name, else one that no other name gets. */
export function fitName(name: string): string {
  if (takenName.test(name)) return name;
  const plain = name.replaceAll(/[^a-zA-Z0-9_-]+/gu, "_").slice(0, 50);
  return `${/^[a-zA-Z]/u.test(plain) ? "" : "t"}${plain}_${digest(name, 8)}`;
}

/** Gives calls their ids for one request, in their order: each its own where it fits and is new, else one made from it. */
export class CallIds {
  readonly #form: IdForm;
  readonly #used = new Set<string>();
  /** How often an id has come. */
  readonly #times = new Map<string, number>();

  constructor(form: IdForm) {
    this.#form = form;
  }

  next(id: string): string {
    const times = this.#times.get(id) ?? 0;
    this.#times.set(id, times + 1);
    let fitted = id;
    for (let salt = 0; !this.#isTaken(fitted) || this.#used.has(fitted); salt += 1)
      fitted = this.#made(JSON.stringify([id, times, salt]));
    this.#used.add(fitted);
    return fitted;
  }

  #isTaken(id: string): boolean {
    const { isWord, min, max } = this.#form;
    const letters = isWord ? /^[a-zA-Z0-9_-]+$/u : /^[a-zA-Z0-9]+$/u;
    return id.length >= min && id.length <= max && letters.test(id);
  }

  #made(seed: string): string {
    const { isWord, min, max } = this.#form;
    const length = Math.min(max, Math.max(min, 24));
    return isWord && length >= 16 ? `call_${digest(seed, length - 5)}` : digest(seed, length);
  }
}

const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** `length` characters of a digest, 32 at most come from SHA-256 and the rest repeats. */
function digest(seed: string, length: number): string {
  const bytes = createHash("sha256").update(seed).digest();
  return Array.from({ length }, (_, index) => letters[bytes[index % bytes.length]! % letters.length]).join(
    "",
  );
}
