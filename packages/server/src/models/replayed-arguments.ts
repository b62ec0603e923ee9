import { isObject } from "../lib/json-object.ts";

/** TypeScript does not know this part of ECMAScript yet; Node 24 has it. Source: TC39 proposal-json-parse-with-source. */
type JsonWithSource = {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
};

/**
 * The arguments of an earlier call as the object some APIs want. Serialising it again gives the numbers exactly as the
 * model wrote them (1.0, 12345678901234567890). Text that is no JSON object becomes `{}`; the log keeps the original.
 */
export function parseReplayedArguments(text: string): Readonly<Record<string, unknown>> {
  const json = JSON as unknown as JsonWithSource;
  try {
    const value = json.parse(text, (_key, part, { source }) =>
      typeof part === "number" && source !== undefined ? json.rawJSON(source) : part,
    );
    if (isObject(value) && !isNumber(text)) return value;
  } catch {
    // The model wrote invalid JSON, and the result of the call says so.
  }
  return {};
}

function isNumber(text: string): boolean {
  return /^\s*[-\d]/u.test(text);
}
