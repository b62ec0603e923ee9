/** A request in one form for all wires, with the positions that its provider counts by. */
export type Reading = {
  readonly messages: readonly ReadMessage[];
  readonly tools: readonly ReadTool[];
};

export type ReadRole = "system" | "user" | "assistant" | "tool";

export type ReadMessage = {
  readonly role: ReadRole | (string & {});
  /** Position in the list of the body. */
  readonly at: number;
  readonly texts: readonly ReadText[];
  readonly images: number;
  readonly calls: readonly ReadCall[];
  readonly results: readonly ReadResult[];
  /** The message as it is in the body. */
  readonly raw: Readonly<Record<string, unknown>>;
};

/** `part` is the position in a list of parts, null where the content is one text. */
export type ReadText = { readonly text: string; readonly part: number | null };

export type ReadCall = {
  readonly id: string | null;
  readonly name: string;
  /** Text on the wires of OpenAI, a value on the others. */
  readonly arguments: unknown;
  readonly part: number;
  readonly raw: Readonly<Record<string, unknown>>;
};

export type ReadResult = {
  readonly id: string | null;
  readonly name: string | null;
  readonly part: number;
  readonly raw: Readonly<Record<string, unknown>>;
};

export type ReadTool = {
  readonly name: string;
  readonly description: string | null;
  /** Absent where the tool has none. */
  readonly schema: unknown;
  readonly at: number;
};

export type Value = Readonly<Record<string, unknown>>;

export function isValue(value: unknown): value is Value {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): readonly Value[] {
  return Array.isArray(value) ? value.filter(isValue) : [];
}

export function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

export function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
