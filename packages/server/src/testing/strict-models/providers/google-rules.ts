import type { Played } from "../../scripted-model/script-player.ts";
import { firstCallSigned } from "../checks/wanted-back.ts";
import { isValue, type ReadCall } from "../readings/reading.ts";
import type { Check, Complaint } from "../strict-provider.ts";

/** A text in base64, as signatures are: they go through a field of bytes. */
export function sealOf(text: string): string {
  return Buffer.from(`strict-double ${text}`).toString("base64");
}

/** Also the two that Google says to put where a call has none. Source: Gemini documentation, thought signatures. */
function isOwnSeal(signature: string): boolean {
  const text = Buffer.from(signature, "base64").toString();
  return (
    text.startsWith("strict-double ") ||
    [signature, text].some((one) =>
      ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"].includes(one),
    )
  );
}

export function withSeal(played: Played): Played {
  const { turn, answer } = played;
  return { ...played, turn: { ...turn, signature: sealOf(turn.signature ?? answer.id) } };
}

/** Sources: 5ire#405, openai/openai-python#2758, langroid/langroid#969; docs: ai.google.dev/gemini-api/docs/thought-signatures. */
export function signedCalls(signatureOf: (call: ReadCall) => unknown): Check {
  return firstCallSigned(signatureOf, isOwnSeal, {
    missing: ({ at }, { name }) => ({
      message:
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work " +
        "correctly, and missing thought_signature may lead to degraded model performance. Additional data, " +
        `function call \`default_api:${name}\` , position ${at + 1}. Please refer to ` +
        "https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",
    }),
    foreign: () => ({ message: "Corrupted thought signature." }),
  });
}

/** `extra_content.google.thought_signature`, where the wire of OpenAI carries it. */
export function extraSignature({ raw }: ReadCall): unknown {
  const extra = isValue(raw["extra_content"]) ? raw["extra_content"] : {};
  return isValue(extra["google"]) ? extra["google"]["thought_signature"] : undefined;
}

/** `{"error": {code, message, status}}`. Source: Google API design guide, errors. */
export function googleBody({ message, type }: Complaint, status: number): unknown {
  return { error: { code: status, message, status: type ?? "INVALID_ARGUMENT" } };
}

/** Source: words of Gemini that error-phrases of other clients quote. */
export function googleOverflow(tokens: number, window: number): Complaint {
  return {
    message: `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${window}).`,
  };
}

export const badGoogleName =
  "Invalid function name. Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain " +
  "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.";

/** Source: kaitranntt/ccs#219, decolua/9router#369. */
export const googleName = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/u;
