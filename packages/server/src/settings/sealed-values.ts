import { invalidField } from "../lib/fault.ts";
import { SealError, type SecretBox } from "../security/seal.ts";

const prefix = "sealed:";

/**
 * Secrets on their way through a client that must not read them: a client asks for its settings with sealed values and sends
 * them back in a request. Only the user they were sealed for can use them, and only this server opens them.
 */
export class SealedValues {
  readonly #box: SecretBox;

  constructor(box: SecretBox) {
    this.#box = box;
  }

  seal(userId: string, value: string): string {
    return prefix + this.#box.seal(JSON.stringify({ userId, value }));
  }

  /** A copy in which every sealed value is open. Throws a fault at `loc` for one of another user or of another key. */
  openIn(userId: string, value: unknown, loc: readonly (string | number)[]): unknown {
    if (typeof value === "string") return value.startsWith(prefix) ? this.#open(userId, value, loc) : value;
    if (Array.isArray(value)) return value.map((item, index) => this.openIn(userId, item, [...loc, index]));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, field]) => [key, this.openIn(userId, field, [...loc, key])]),
    );
  }

  #open(userId: string, sealed: string, loc: readonly (string | number)[]): string {
    const refusal = invalidField([...loc], "This sealed value is not one of yours. Read the settings again.");
    try {
      const opened = JSON.parse(this.#box.unseal(sealed.slice(prefix.length))) as Partial<SealedContent>;
      if (opened.userId !== userId || typeof opened.value !== "string") throw refusal;
      return opened.value;
    } catch (error) {
      // A text that only looks sealed is the caller's mistake like one of another key.
      if (error instanceof SealError || error instanceof SyntaxError) throw refusal;
      throw error;
    }
  }
}

type SealedContent = { readonly userId: string; readonly value: string };
