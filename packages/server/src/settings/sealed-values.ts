import { invalidField } from "../lib/fault.ts";
import { openUrlValues } from "../security/url-secrets.ts";
import { SealError, type SecretBox } from "../security/seal.ts";

const prefix = "sealed:";

type Step = string | number;

/**
 * Sealed secrets that pass through a client that must not read them: it gets settings with sealed values and sends them
 * back in a request. Only the same user can use them, and only this server opens them.
 */
export class SealedValues {
  readonly #box: SecretBox;

  constructor(box: SecretBox) {
    this.#box = box;
  }

  seal(userId: string, value: string): string {
    return prefix + this.#box.seal(JSON.stringify({ userId, value }));
  }

  /**
   * The value with every sealed one in it open; what has none is not copied. Throws a fault at `loc` for one of another user or of
   * another key.
   */
  openIn<Value>(userId: string, value: Value, loc: readonly Step[]): Value {
    return this.#openPart(userId, value, [...loc]) as Value;
  }

  /** `path` is one for the whole walk. */
  #openPart(userId: string, value: unknown, path: Step[]): unknown {
    if (typeof value === "string") return this.#openText(userId, value, path);
    if (typeof value !== "object" || value === null) return value;
    const isList = Array.isArray(value);
    const opened = new Map<string, unknown>();
    for (const [key, field] of Object.entries(value) as [string, unknown][]) {
      if (typeof field !== "string" && typeof field !== "object") continue;
      path.push(isList ? Number(key) : key);
      const open = this.#openPart(userId, field, path);
      path.pop();
      if (open !== field) opened.set(key, open);
    }
    if (opened.size === 0) return value;
    if (isList) return (value as unknown[]).map((item, index) => opened.get(String(index)) ?? item);
    return { ...value, ...Object.fromEntries(opened) };
  }

  #openText(userId: string, text: string, path: readonly Step[]): string {
    if (text.startsWith(prefix)) return this.#open(userId, text, path);
    if (!text.includes(`=${prefix}`) || !URL.canParse(text)) return text;
    // An address is sealed in its query alone.
    return openUrlValues(text, (part) => (part.startsWith(prefix) ? this.#open(userId, part, path) : null));
  }

  #open(userId: string, sealed: string, loc: readonly Step[]): string {
    const refusal = invalidField([...loc], "This sealed value is not one of yours. Read the settings again.");
    try {
      const opened = JSON.parse(this.#box.unseal(sealed.slice(prefix.length))) as Partial<SealedContent>;
      if (opened.userId !== userId || typeof opened.value !== "string") throw refusal;
      return opened.value;
    } catch (error) {
      // A text that has the form of a sealed one and is none is the caller's mistake, like one of another key.
      if (error instanceof SealError || error instanceof SyntaxError) throw refusal;
      throw error;
    }
  }
}

type SealedContent = { readonly userId: string; readonly value: string };
