import type { Check, Complaint } from "../strict-provider.ts";
import type { ReadCall, ReadMessage } from "../readings/reading.ts";

/** The body is parsed by a strict reader: half a surrogate pair is no text. `at` counts characters from 0. */
export function wellFormedBody(complain: (at: number) => Complaint): Check {
  return ({ text }) => {
    const at = findHalfPair(text);
    return at === null ? null : complain(at);
  };
}

/** Arguments as text are parsed too, so half a pair is refused where it is escaped twice. */
export function wellFormedArguments(
  complain: (message: ReadMessage, call: ReadCall, at: number) => Complaint,
): Check {
  return (_request, { messages }) => {
    for (const message of messages) {
      for (const call of message.calls) {
        const at = typeof call.arguments === "string" ? findHalfPair(call.arguments) : null;
        if (at !== null) return complain(message, call, at);
      }
    }
    return null;
  };
}

const escapes =
  /\\(?:u([dD][89abAB][\dA-Fa-f]{2})(\\u[dD][c-fC-F][\dA-Fa-f]{2})?|u([dD][c-fC-F][\dA-Fa-f]{2})|.)/gsu;

/** The position of the first escape in a JSON text that stands for one half of a pair; null when there is none. */
function findHalfPair(text: string): number | null {
  if (!/\\ud/iu.test(text)) return null;
  for (const match of text.matchAll(escapes)) {
    const [, high, low, lone] = match;
    if (lone !== undefined || (high !== undefined && low === undefined)) return match.index;
  }
  return null;
}
