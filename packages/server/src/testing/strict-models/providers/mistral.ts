import { openaiWire } from "../../scripted-model/openai-wire.ts";
import { argumentsAreObjects } from "../checks/call-arguments.ts";
import { callIds } from "../checks/call-ids.ts";
import { noEmptyMessages } from "../checks/contents.ts";
import { onlyBodyFields, onlyCallFields, onlyMessageFields } from "../checks/fields.ts";
import { pairingByCount } from "../checks/pairing.ts";
import { lastRoleIn, noSequence } from "../checks/roles.ts";
import { calledNames, toolNames } from "../checks/tools.ts";
import { wellFormedBody } from "../checks/well-formed.ts";
import { readChat } from "../readings/read-chat.ts";
import type { Complaint, StrictProvider } from "../strict-provider.ts";
import { lettersOf } from "./chat-rules.ts";

/** Pydantic's words for a field that is not known. Sources: Gage-Technologies/mistral-go#2, zeroclaw-labs/zeroclaw#3572. */
function extra(...loc: readonly (string | number)[]): Complaint {
  return {
    status: 422,
    message: JSON.stringify({
      type: "extra_forbidden",
      loc: ["body", ...loc],
      msg: "Extra inputs are not permitted",
    }),
  };
}

/** Source: datapizza-labs/datapizza-ai#98, charmbracelet/crush#279. */
function order(message: string): Complaint {
  return { message, type: "invalid_request_message_order", code: "3230" };
}

const badName = (name: string): Complaint => ({
  message: `Function name was ${name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.`,
  type: "invalid_function_call",
  code: "3280",
});

/** Mistral. */
export const mistral: StrictProvider = {
  name: "mistral",
  wire: openaiWire,
  llm: { model: "mistral/mistral-large-latest" },
  path: "/v1",
  models: ["mistral-large-latest", "mistral-small-latest", "devstral-medium-latest"],
  read: readChat,
  checks: [
    wellFormedBody((at) => ({
      status: 422,
      message: JSON.stringify({ type: "json_invalid", loc: ["body", at], msg: "JSON decode error" }),
    })),
    onlyBodyFields(
      [
        "model messages tools tool_choice parallel_tool_calls stream stream_options temperature top_p max_tokens stop",
        "random_seed response_format presence_penalty frequency_penalty n prediction prompt_mode safe_prompt metadata",
      ].flatMap((line) => line.split(" ")),
      (field) => extra(field),
    ),
    onlyMessageFields(
      {
        system: ["role", "content"],
        user: ["role", "content"],
        assistant: ["role", "content", "tool_calls", "prefix"],
        tool: ["role", "content", "tool_call_id", "name"],
      },
      ({ at, role }, field) => extra("messages", at, role, field),
    ),
    onlyCallFields(["id", "type", "function", "index"], ({ at, role }, { part }, field) =>
      extra("messages", at, role, "tool_calls", part, field),
    ),
    // Sources: nearai/ironclaw#1241, editor-code-assistant/eca#233, anomalyco/opencode#1680.
    callIds(
      (id) => /^[a-zA-Z0-9]{9}$/u.test(id),
      ({ id }) => ({
        message: `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`,
        type: "invalid_function_call",
        code: "3280",
      }),
    ),
    calledNames(/^[a-zA-Z0-9_-]{1,64}$/u, (_message, { name }) => badName(name)),
    toolNames(/^[a-zA-Z0-9_-]{1,64}$/u, ({ name }) => badName(name)),
    argumentsAreObjects((_message, { name }) => ({
      message: `Invalid arguments of the call of ${name}: they must be a JSON object.`,
      type: "invalid_function_call",
      code: "3280",
    })),
    noEmptyMessages(
      () => order("Assistant message must have either content or tool_calls, but not none."),
      ["assistant"],
    ),
    noSequence(
      (before, { role }) => before.role === "tool" && role === "user",
      () => order("Unexpected role 'user' after role 'tool'"),
    ),
    noSequence(
      (before, { role }) => role === "tool" && !["tool", "assistant"].includes(before.role),
      (_message, before) => order(`Unexpected role 'tool' after role '${before.role}'`),
    ),
    noSequence(
      (before, { role }) => role === "system" && before.role !== "system",
      (_message, before) => order(`Unexpected role 'system' after role '${before.role}'`),
    ),
    // Sources: camel-ai/camel#1467, mistralai/client-ts#106.
    pairingByCount({
      unequal: () => ({ ...order("Not the same number of function calls and responses") }),
      orphan: () => order("Unexpected role 'tool' after role 'assistant'"),
    }),
    lastRoleIn(["user", "tool"], ({ role }) =>
      order(`Expected last role User or Tool (or Assistant with prefix True) for serving but got ${role}`),
    ),
  ],
  toBody: ({ message, type, code }, status) =>
    status === 422
      ? {
          object: "error",
          message: { detail: [JSON.parse(message) as unknown] },
          type: "invalid_request_error",
          param: null,
          code: null,
        }
      : { object: "error", message, type: type ?? "invalid_request_error", param: null, code: code ?? null },
  toCallId: (seed) => lettersOf(seed, 9),
  window: 131_072,
  overflow: (tokens, window) => ({
    message: `Prompt contains ${tokens} tokens and 0 draft tokens, too large for model with ${window} maximum context length`,
    code: "3051",
  }),
};
