import type { Check, Complaint } from "../strict-provider.ts";
import { isValue, type ReadCall, type ReadMessage } from "../readings/reading.ts";

/** The arguments of every call are the text of a JSON object, or one where the wire carries values. */
export function argumentsAreObjects(complain: (message: ReadMessage, call: ReadCall) => Complaint): Check {
  return (_request, { messages }) => {
    for (const message of messages) {
      const call = message.calls.find((one) => !isValue(valueOf(one.arguments)));
      if (call !== undefined) return complain(message, call);
    }
    return null;
  };
}

function valueOf(given: unknown): unknown {
  if (typeof given !== "string") return given;
  try {
    return JSON.parse(given);
  } catch {
    // A text that is no JSON is no object: that is what is asked.
    return null;
  }
}
