import { openaiWire } from "../../scripted-model/openai-wire.ts";
import { argumentsAreObjects } from "../checks/call-arguments.ts";
import { contentIsThere } from "../checks/contents.ts";
import { onlyBodyFields, onlyCallFields, onlyMessageFields } from "../checks/fields.ts";
import { arraysHaveItems, localRefs } from "../checks/schema-rules.ts";
import { schemas } from "../checks/tool-schemas.ts";
import { noEmptyTools, toolNames } from "../checks/tools.ts";
import { wellFormedBody } from "../checks/well-formed.ts";
import { readChat } from "../readings/read-chat.ts";
import type { Complaint, StrictProvider } from "../strict-provider.ts";
import { lettersOf, openaiPairing } from "./chat-rules.ts";

/** Sources: web-infra-dev/midscene#1322, FlowiseAI/Flowise#2866. */
function extra(field: string, value: unknown): Complaint {
  const shown = typeof value === "string" ? `'${value}'` : JSON.stringify(value);
  return { message: `Extra inputs are not permitted, field: '${field}', value: ${shown}` };
}

/** Fireworks. */
export const fireworks: StrictProvider = {
  name: "fireworks",
  wire: openaiWire,
  llm: { model: "fireworks_ai/accounts/fireworks/models/glm-4p6" },
  path: "/inference/v1",
  models: ["accounts/fireworks/models/glm-4p6", "accounts/fireworks/models/kimi-k2-instruct"],
  read: readChat,
  checks: [
    wellFormedBody(() => ({ message: "Could not parse the request body as JSON: surrogates not allowed" })),
    (request, reading) =>
      onlyBodyFields(
        [
          "model messages tools tool_choice parallel_tool_calls stream stream_options temperature top_p top_k min_p",
          "max_tokens max_completion_tokens reasoning_effort response_format stop n user seed logprobs top_logprobs",
          "presence_penalty frequency_penalty repetition_penalty logit_bias thinking prompt_cache_key metadata",
        ].flatMap((line) => line.split(" ")),
        (field) => extra(field, request.body[field]),
      )(request, reading),
    onlyMessageFields(
      {
        system: ["role", "content", "name"],
        user: ["role", "content", "name"],
        assistant: ["role", "content", "name", "tool_calls", "reasoning_content"],
        tool: ["role", "content", "tool_call_id", "name"],
      },
      ({ at, raw }, field) => extra(`messages[${at}].${field}`, raw[field]),
    ),
    onlyCallFields(["id", "type", "function", "index"], ({ at }, { part, raw }, field) =>
      extra(`messages[${at}].tool_calls[${part}].${field}`, raw[field]),
    ),
    contentIsThere(({ at }) => ({
      message: `Input should be a valid string, field: 'messages[${at}].content', value: None`,
    })),
    argumentsAreObjects(({ at }, { part }) => ({
      message: `Tool call arguments must be valid JSON, field: 'messages[${at}].tool_calls[${part}].function.arguments'`,
    })),
    openaiPairing,
    noEmptyTools({ message: "List should have at least 1 item after validation, field: 'tools', value: []" }),
    toolNames(/^[a-zA-Z0-9_-]{1,64}$/u, ({ at, name }) => ({
      message: `String should match pattern '^[a-zA-Z0-9_-]{1,64}$', field: 'tools[${at}].function.name', value: '${name}'`,
    })),
    schemas(arraysHaveItems, ({ name }) => ({
      message: `JSON Schema not supported: could not understand the instance of 'array' in the tool '${name}'`,
    })),
    schemas(localRefs, ({ name }) => ({
      message: `JSON Schema not supported: could not resolve a reference in the tool '${name}'`,
    })),
  ],
  toBody: ({ message }) => ({
    error: { object: "error", type: "invalid_request_error", code: "invalid_request_error", message },
  }),
  toCallId: (seed) => `call_${lettersOf(seed, 22)}`,
  window: 202_752,
  overflow: (tokens, window) => ({
    message: `The prompt is too long: ${tokens}, model maximum context length: ${window}`,
  }),
};
