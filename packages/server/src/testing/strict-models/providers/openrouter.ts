import { createChatWire } from "../../scripted-model/openai-wire.ts";
import { pairingByCount } from "../checks/pairing.ts";
import { calledNames, noEmptyTools } from "../checks/tools.ts";
import { wellFormedBody } from "../checks/well-formed.ts";
import { readChat } from "../readings/read-chat.ts";
import { listOf, type ReadMessage } from "../readings/reading.ts";
import type { Check, Complaint, StrictProvider } from "../strict-provider.ts";
import { badGoogleName, googleBody, googleName, sealOf, withSeal } from "./google-rules.ts";
import { googleTools, leftOutByGoogle } from "./google-schemas.ts";

/** What is wrong upstream is quoted in `metadata.raw`. Sources: LibreChat-AI/agents#37, diegosouzapw/OmniRoute#3044. */
function toBody({ message, code, type }: Complaint, status: number): unknown {
  if (code === "own") return { error: { message, code: status }, user_id: "user_strict_double" };
  return {
    error: {
      message: "Provider returned error",
      code: status,
      metadata: {
        raw: type === "quoted" ? message : JSON.stringify(googleBody({ message }, status), null, 2),
        provider_name: "Google AI Studio",
      },
    },
    user_id: "user_strict_double",
  };
}

/** The sealed part of an answer that calls. Source: OpenRouter documentation, preserving reasoning. */
const detailsWanted: Check = (_request, { messages }) => {
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const bare = messages.find(
    (message, index) => index > lastUser && message.calls.length > 0 && !isSealed(message),
  );
  if (bare === undefined) return null;
  const upstream = {
    message:
      "Function call is missing a thought_signature in functionCall parts. This is required for tools to work " +
      "correctly, and missing thought_signature may lead to degraded model performance. Additional data, " +
      `function call \`default_api:${bare.calls[0]?.name}\` , position ${bare.at + 1}. Please refer to ` +
      "https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",
  };
  return {
    type: "quoted",
    message:
      "Gemini models require OpenRouter reasoning details to be preserved in each request. Please refer to our docs: " +
      "https://openrouter.ai/docs/guides/best-practices/reasoning-tokens#preserving-reasoning-blocks. " +
      `Upstream error: ${JSON.stringify(googleBody(upstream, 400), null, 2)}\n`,
  };
};

/** Details belong to a call of the same message. Source: UKGovernmentBEIS/inspect_ai#3986. */
function isSealed({ raw, calls }: ReadMessage): boolean {
  return listOf(raw["reasoning_details"]).some(
    ({ type, data, id }) =>
      type === "reasoning.encrypted" &&
      typeof data === "string" &&
      data.startsWith(sealOf("").slice(0, 16)) &&
      calls.some((call) => call.id === id),
  );
}

/** OpenRouter in front of Gemini: what was thought is in `reasoning`, what is sealed in `reasoning_details`. */
export const openrouter: StrictProvider = {
  name: "openrouter",
  wire: createChatWire({
    toReasoning: (reasoning) => ({
      reasoning,
      reasoning_details: [{ type: "reasoning.text", text: reasoning, format: "google-gemini-v1", index: 0 }],
    }),
    afterReasoning: ({ turn, answer }) =>
      answer.toolCalls.length === 0
        ? null
        : {
            reasoning_details: [
              {
                type: "reasoning.encrypted",
                data: turn.signature,
                id: answer.toolCalls[0]!.id,
                format: "google-gemini-v1",
                index: 1,
              },
            ],
          },
  }),
  llm: { model: "openrouter/google/gemini-3-pro-preview" },
  path: "/api/v1",
  models: ["google/gemini-3-pro-preview"],
  read: readChat,
  checks: [
    wellFormedBody(() => ({ message: "Invalid JSON body", code: "own" })),
    noEmptyTools({ message: "tools must not be empty", code: "own" }),
    calledNames(googleName, ({ at }, { part }) => ({
      message:
        "The GenerateContentRequest proto is invalid:\n" +
        `  * contents[${at}].parts[${part}].function_call.name: [FIELD_INVALID] ${badGoogleName}`,
    })),
    pairingByCount({
      unequal: () => ({
        message:
          "Please ensure that the number of function response parts is equal to the number of function call parts " +
          "of the function call turn.",
      }),
      orphan: () => ({
        message: "Please ensure that function response turn comes immediately after a function call turn.",
      }),
    }),
    detailsWanted,
    ...googleTools(leftOutByGoogle),
  ],
  toBody,
  toCallId: (seed, name) => `tool_${name}_${seed.slice(0, 20)}`,
  adorn: withSeal,
  window: 1_048_576,
  overflow: (tokens, window) => ({
    code: "own",
    message:
      `This endpoint's maximum context length is ${window} tokens. However, you requested about ${tokens} tokens ` +
      `(${tokens} of text input). Please reduce the length of either one, or use the "middle-out" transform to ` +
      "compress your prompt automatically.",
  }),
};
