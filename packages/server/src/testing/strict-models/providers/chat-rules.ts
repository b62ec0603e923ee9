import { pairing } from "../checks/pairing.ts";
import type { Check, Complaint } from "../strict-provider.ts";

/** `{"error": {message, type, param, code}}`. Source: OpenAI API reference, errors. */
export function openaiBody({ message, type, param, code }: Complaint): unknown {
  return {
    error: {
      message,
      type: type ?? "invalid_request_error",
      param: param ?? null,
      code: code ?? null,
    },
  };
}

/**
 * Calls and results as OpenAI and those who copied its words want them. Sources: QwenLM/qwen-code#2360,
 * BigPizzaV3/CodexPlusPlus#329.
 */
export const openaiPairing: Check = pairing({
  missing: (message, ids, next) => ({
    message:
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
      `The following tool_call_ids did not have response messages: ${ids.join(", ")}`,
    param: `messages.[${next}].role`,
  }),
  orphan: (message) => ({
    message:
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    param: `messages.[${message.at}].role`,
  }),
});

/** An id of letters and digits that looks random, from hexadecimal digits. */
export function lettersOf(seed: string, length: number): string {
  return BigInt(`0x${seed}`).toString(36).padStart(24, "k").slice(-length);
}
