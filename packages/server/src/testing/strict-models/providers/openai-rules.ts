import { callIds } from "../checks/call-ids.ts";
import { contentIsThere } from "../checks/contents.ts";
import { onlyBodyFields, onlyCallFields, onlyMessageFields, refusedFields } from "../checks/fields.ts";
import { knownRoles } from "../checks/roles.ts";
import { schemas } from "../checks/tool-schemas.ts";
import {
  arraysHaveItems,
  knownTypes,
  noLookaround,
  plainRoot,
  rootIsObject,
} from "../checks/schema-rules.ts";
import { calledNames, noEmptyTools, toolNames, toolsUpTo } from "../checks/tools.ts";
import { wellFormedBody } from "../checks/well-formed.ts";
import type { Check, Complaint } from "../strict-provider.ts";

const patternWords =
  "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.";

/** A body that is no JSON is refused whole. Source: OpenAI API reference, errors; reports of half pairs name the others. */
export const openaiJson: Check = wellFormedBody(() => ({
  message:
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library " +
    "correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
}));

/** Sources: vercel/ai#5171 (40 characters), AnswerDotAI/fastllm#45 (64 on the responses wire), getsentry/sentry-mcp#106. */
export function tooLong(param: string, max: number, length: number): Complaint {
  return {
    message:
      `Invalid '${param}': string too long. Expected a string with maximum length ${max}, ` +
      `but got a string with length ${length} instead.`,
    param,
    code: "string_above_max_length",
  };
}

export function emptyText(param: string): Complaint {
  return {
    message:
      `Invalid '${param}': empty string. Expected a string with minimum length 1, ` +
      "but got an empty string instead.",
    param,
    code: "empty_string",
  };
}

function badName(param: string, name: string): Complaint {
  if (name === "") return emptyText(param);
  if (name.length > 64) return tooLong(param, 64, name.length);
  return { message: `Invalid '${param}': ${patternWords}`, param, code: "invalid_value" };
}

/** `toParam` names the field of a tool, which the two wires spell differently. */
export function openaiTools(toParam: (at: number, field: "name" | "parameters") => string): readonly Check[] {
  const bad = (at: number, message: string): Complaint => ({
    message,
    param: toParam(at, "parameters"),
    code: "invalid_function_parameters",
  });
  return [
    noEmptyTools({
      message:
        "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      param: "tools",
      code: "empty_array",
    }),
    toolsUpTo(128, (count) => ({
      message:
        "Invalid 'tools': array too long. Expected an array with maximum length 128, " +
        `but got an array with length ${count} instead.`,
      param: "tools",
      code: "array_above_max_length",
    })),
    toolNames(/^[a-zA-Z0-9_-]{1,64}$/u, ({ at, name }) => badName(toParam(at, "name"), name)),
    // Source: anomalyco/opencode#37916 and the reports it names; only functions that are not strict are sent here.
    schemas(rootIsObject, ({ at, name }, { found }) =>
      bad(
        at,
        `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"', ` +
          `got 'type: "${typeof found === "string" ? found : "None"}"'.`,
      ),
    ),
    schemas(plainRoot, ({ at, name }) =>
      bad(
        at,
        `Invalid schema for function '${name}': schema must have type 'object' and not have ` +
          "'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
      ),
    ),
    schemas(knownTypes, ({ at, name }, { found }) =>
      bad(
        at,
        `Invalid schema for function '${name}': '${String(found)}' is not valid under any of the given schemas.`,
      ),
    ),
    // Source: streamnative/streamnative-mcp-server#26.
    schemas(arraysHaveItems, ({ at, name }, { path }) =>
      bad(
        at,
        `Invalid schema for function '${name}': In context=(${path.map((step) => `'${step}'`).join(", ")}), ` +
          "array schema missing items.",
      ),
    ),
    // Source: Dokploy/mcp#45.
    schemas(noLookaround, ({ at }, { path }) =>
      bad(at, `Invalid JSON schema: regex lookaround is not supported. Found at $.${path.join(".")}.`),
    ),
  ];
}

export const openaiRoles: Check = knownRoles(
  ["system", "developer", "user", "assistant", "tool", "function"],
  ({ at, role }) => ({
    message: `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`,
    param: `messages[${at}].role`,
    code: "invalid_value",
  }),
);

/** What earlier messages of the chat wire must be like. */
export const openaiMessages: readonly Check[] = [
  contentIsThere(({ at }) => ({
    message: "Invalid value for 'content': expected a string, got null.",
    param: `messages.[${at}].content`,
  })),
  calledNames(/^[a-zA-Z0-9_-]{1,64}$/u, ({ at }, { part, name }) =>
    badName(`messages[${at}].tool_calls[${part}].function.name`, name),
  ),
  callIds(
    (id) => id.length > 0 && id.length <= 40,
    ({ kind, message: { at }, part, id }) => {
      const param =
        kind === "call" ? `messages[${at}].tool_calls[${part}].id` : `messages[${at}].tool_call_id`;
      return id === "" ? emptyText(param) : tooLong(param, 40, id.length);
    },
  ),
];

/** Unknown fields of messages and calls. Source of the words: teabranch/open-responses-server#41, for fields of the body. */
export const openaiMessageFields: readonly Check[] = [
  onlyMessageFields(
    {
      system: ["role", "content", "name"],
      developer: ["role", "content", "name"],
      user: ["role", "content", "name"],
      assistant: ["role", "content", "name", "refusal", "audio", "tool_calls", "function_call"],
      tool: ["role", "content", "tool_call_id", "name"],
    },
    ({ at }, field) => unknownParameter(`messages[${at}].${field}`),
  ),
  onlyCallFields(["id", "type", "function"], ({ at }, { part }, field) =>
    unknownParameter(`messages[${at}].tool_calls[${part}].${field}`),
  ),
];

export function unknownParameter(param: string): Complaint {
  return { message: `Unknown parameter: '${param}'.`, param, code: "unknown_parameter" };
}

/** Fields of the body that OpenAI knows; `top_k` is not among them. */
export const openaiBodyFields: Check = onlyBodyFields(
  [
    "model messages tools tool_choice parallel_tool_calls stream stream_options temperature top_p seed stop n user",
    "max_tokens max_completion_tokens reasoning_effort prompt_cache_key prompt_cache_retention metadata store",
    "response_format logprobs top_logprobs logit_bias frequency_penalty presence_penalty service_tier verbosity",
    "safety_identifier modalities prediction web_search_options",
  ].flatMap((line) => line.split(" ")),
  (field) => ({ message: `Unrecognized request argument supplied: ${field}` }),
);

const reasoningModels = /^(?:gpt-5|o[1-9])/u;

/** Source: tailcallhq/forgecode#1081. */
export const openaiReasoningFields: readonly Check[] = [
  refusedFields(["max_tokens"], reasoningModels, () => ({
    message:
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    param: "max_tokens",
    code: "unsupported_parameter",
  })),
  refusedFields(["temperature", "top_p"], reasoningModels, (field) => ({
    message: `Unsupported parameter: '${field}' is not supported with this model.`,
    param: field,
    code: "unsupported_parameter",
  })),
  refusedFields(["reasoning_effort"], /^gpt-4/u, (field) => ({
    message: `Unrecognized request argument supplied: ${field}`,
  })),
];

/** Source: words of OpenAI that are quoted in webtimemachine/wtm2#579. */
export function openaiOverflow(tokens: number, window: number): Complaint {
  return {
    message:
      `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. ` +
      "Please reduce the length of the messages.",
    param: "messages",
    code: "context_length_exceeded",
  };
}
