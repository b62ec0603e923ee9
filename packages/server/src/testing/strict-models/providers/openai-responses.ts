import { openaiResponsesWire } from "../../scripted-model/openai-responses-wire.ts";
import { callIds } from "../checks/call-ids.ts";
import { onlyBodyFields } from "../checks/fields.ts";
import { pairingAnywhere } from "../checks/pairing.ts";
import { calledNames } from "../checks/tools.ts";
import { readResponses } from "../readings/read-responses.ts";
import { listOf } from "../readings/reading.ts";
import type { Check, StrictProvider } from "../strict-provider.ts";
import { lettersOf, openaiBody } from "./chat-rules.ts";
import {
  emptyText,
  openaiJson,
  openaiOverflow,
  openaiTools,
  tooLong,
  unknownParameter,
} from "./openai-rules.ts";

const sealPrefix = "gAAAAAB-strict-double-";

/** What is sealed must have been sealed here. Sources: anomalyco/opencode#5104, vercel/ai#7543. */
const ownSeals: Check = ({ body }) => {
  for (const item of listOf(body["input"])) {
    if (item["type"] !== "reasoning") continue;
    const sealed = item["encrypted_content"] ?? null;
    const id = String(item["id"]);
    if (sealed === null) {
      return {
        status: 404,
        message:
          `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. ` +
          "Try again with `store` set to true, or remove this item from your input.",
        param: "input",
      };
    }
    if (typeof sealed !== "string" || !sealed.startsWith(sealPrefix)) {
      return {
        message: `The encrypted content for item ${id} could not be verified.`,
        code: "invalid_encrypted_content",
      };
    }
  }
  return null;
};

/** OpenAI, responses. Nothing is stored, so sealed reasoning goes back and forth. */
export const openaiResponses: StrictProvider = {
  name: "openai-responses",
  wire: openaiResponsesWire,
  llm: { model: "openai_responses/gpt-5" },
  path: "/v1",
  models: ["gpt-5", "gpt-5-codex", "o3"],
  read: readResponses,
  checks: [
    openaiJson,
    onlyBodyFields(
      [
        "model input instructions tools tool_choice parallel_tool_calls stream store include reasoning text",
        "max_output_tokens max_tool_calls metadata prompt_cache_key prompt_cache_retention previous_response_id",
        "safety_identifier service_tier truncation user background stream_options",
      ].flatMap((line) => line.split(" ")),
      unknownParameter,
    ),
    calledNames(/^[a-zA-Z0-9_-]+$/u, ({ at }, { name }) =>
      name === ""
        ? emptyText(`input[${at}].name`)
        : {
            message:
              `Invalid 'input[${at}].name': string does not match pattern. ` +
              "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
            param: `input[${at}].name`,
            code: "invalid_value",
          },
    ),
    callIds(
      (id) => id.length > 0 && id.length <= 64,
      ({ message: { at }, id }) =>
        id === "" ? emptyText(`input[${at}].call_id`) : tooLong(`input[${at}].call_id`, 64, id.length),
    ),
    // Sources: reports of both sentences in openai/openai-agents-python and in clients of the responses wire.
    pairingAnywhere({
      missing: (id) => ({ message: `No tool output found for function call ${id}.`, param: "input" }),
      orphan: (id) => ({
        message: `No tool call found for function call output with call_id ${id}.`,
        param: "input",
      }),
    }),
    ownSeals,
    ...openaiTools((at, field) => `tools[${at}].${field}`),
  ],
  toBody: openaiBody,
  toCallId: (seed) => `call_${lettersOf(seed, 24)}`,
  adorn: (played) => ({
    ...played,
    turn: { ...played.turn, signature: `${sealPrefix}${played.turn.signature ?? played.answer.id}` },
  }),
  window: 400_000,
  overflow: (tokens, window) => ({
    ...openaiOverflow(tokens, window),
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    param: "input",
  }),
};
