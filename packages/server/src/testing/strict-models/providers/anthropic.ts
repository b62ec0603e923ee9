import { anthropicWire } from "../../scripted-model/anthropic-wire.ts";
import { argumentsAreObjects } from "../checks/call-arguments.ts";
import { callIds, uniqueCallIds } from "../checks/call-ids.ts";
import { noBlankTexts, noEmptyMessages } from "../checks/contents.ts";
import { fieldUpTo, onlyBodyFields, onlyMessageFields, refusedFields } from "../checks/fields.ts";
import { pairing } from "../checks/pairing.ts";
import { knownRoles, lastRoleIn, startsWithUser } from "../checks/roles.ts";
import {
  knownTypes,
  patternsCompile,
  plainRoot,
  propertyNames,
  rootIsObject,
} from "../checks/schema-rules.ts";
import { schemas } from "../checks/tool-schemas.ts";
import { calledNames, toolNames, uniqueToolNames } from "../checks/tools.ts";
import { wellFormedBody } from "../checks/well-formed.ts";
import { readAnthropic } from "../readings/read-anthropic.ts";
import { listOf } from "../readings/reading.ts";
import type { Check, StrictProvider } from "../strict-provider.ts";
import { anthropicThinking, sealPrefix } from "./anthropic-thinking.ts";
import { lettersOf } from "./chat-rules.ts";

const invalidSchema =
  "JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). " +
  "Learn more about tool use at https://docs.claude.com/en/docs/tool-use.";

/** No more than four marks in a request. Source: Anthropic documentation, prompt caching. */
const fewMarks: Check = ({ text }) => {
  const count = text.match(/"cache_control":/gu)?.length ?? 0;
  return count > 4
    ? { message: `A maximum of 4 blocks with cache_control may be provided. Found ${count}.` }
    : null;
};

const systemTexts: Check = ({ body }) => {
  const blank = listOf(body["system"]).some(({ text }) => typeof text !== "string" || text.trim() === "");
  return blank ? { message: "system: text content blocks must be non-empty" } : null;
};

/** Anthropic messages. */
export const anthropic: StrictProvider = {
  name: "anthropic",
  wire: anthropicWire,
  llm: { model: "anthropic/claude-sonnet-4-5" },
  path: "",
  models: ["claude-sonnet-4-5", "claude-opus-4-6", "claude-haiku-4-5"],
  read: readAnthropic,
  checks: [
    // Source: anthropics/claude-code#60394.
    wellFormedBody((at) => ({
      message: `The request body is not valid JSON: no low surrogate in string: line 1 column ${at + 1} (char ${at})`,
    })),
    onlyBodyFields(
      [
        "model messages max_tokens system tools tool_choice stream temperature top_p top_k stop_sequences metadata",
        "thinking output_config service_tier context_management container mcp_servers cache_control betas",
      ].flatMap((line) => line.split(" ")),
      (field) => ({ message: `${field}: Extra inputs are not permitted` }),
    ),
    ({ body }) => (typeof body["max_tokens"] === "number" ? null : { message: "max_tokens: Field required" }),
    fieldUpTo("max_tokens", 128_000, (value) => ({
      message: `max_tokens: ${value} > 128000, which is the maximum allowed number of output tokens`,
    })),
    ({ body }) =>
      (body["temperature"] ?? null) !== null && (body["top_p"] ?? null) !== null
        ? {
            message:
              "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
          }
        : null,
    refusedFields(["temperature", "top_p", "top_k"], /claude-opus-4-[7-9]|claude-opus-[5-9]/u, (field) => ({
      message: `\`${field}\` is deprecated for this model.`,
    })),
    knownRoles(["user", "assistant"], ({ role }) => ({
      message:
        `messages: Unexpected role "${role}". The Messages API accepts a top-level \`system\` parameter, ` +
        `not "${role}" as an input message role.`,
    })),
    startsWithUser(() => ({ message: 'messages: first message must use the "user" role' })),
    onlyMessageFields({ user: ["role", "content"], assistant: ["role", "content"] }, ({ at }, field) => ({
      message: `messages.${at}.${field}: Extra inputs are not permitted`,
    })),
    // Source: Claude 4.6 and later refuse a prefilled answer; Anthropic documentation, what's new in Claude 4.6.
    (request, reading) =>
      /claude-(?:opus|sonnet)-4-[6-9]/u.test(String(request.body["model"]))
        ? lastRoleIn(["user"], () => ({
            message:
              "This model does not support assistant message prefill. The conversation must end with a user message.",
          }))(request, reading)
        : null,
    noEmptyMessages(({ at }) => ({
      message: `messages.${at}: all messages must have non-empty content except for the optional final assistant message`,
    })),
    // Source: anomalyco/opencode#15715, microsoft/genaiscript#1561.
    noBlankTexts(() => ({ message: "messages: text content blocks must be non-empty" })),
    systemTexts,
    // Source: Anthropic API reference, messages: `^[a-zA-Z0-9_-]+$` of `tool_use.id`.
    callIds(
      (id) => /^[a-zA-Z0-9_-]+$/u.test(id),
      ({ kind, message, part }) => ({
        message:
          `messages.${message.at}.content.${part}.` +
          `${kind === "call" ? "tool_use.id" : "tool_result.tool_use_id"}: String should match pattern '^[a-zA-Z0-9_-]+$'`,
      }),
    ),
    calledNames(/^[a-zA-Z0-9_-]{1,200}$/u, ({ at }, { part, name }) => ({
      message:
        `messages.${at}.content.${part}.tool_use.name: ` +
        (name === ""
          ? "String should have at least 1 character"
          : name.length > 200
            ? "String should have at most 200 characters"
            : "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    })),
    argumentsAreObjects(({ at }, { part }) => ({
      message: `messages.${at}.content.${part}.tool_use.input: Input should be a valid dictionary`,
    })),
    uniqueCallIds(() => ({ message: "messages: `tool_use` ids must be unique" })),
    // Source: tghamm/Anthropic.SDK#184 for the second sentence; all three in anthropics/claude-code reports.
    pairing({
      missing: ({ at }, ids) => ({
        message:
          `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ` +
          `${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      }),
      orphan: ({ at }, { part, id }) => ({
        message:
          `messages.${at}.content.${part}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ` +
          "Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
      }),
      doubled: ({ at }, { part, id }) => ({
        message:
          `messages.${at}.content.${part}: each tool_use must have a single result. ` +
          `Found multiple \`tool_result\` blocks with id: ${id}`,
      }),
    }),
    ...anthropicThinking,
    toolNames(/^[a-zA-Z0-9_-]{1,128}$/u, ({ at }) => ({
      message: `tools.${at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`,
    })),
    uniqueToolNames(() => ({ message: "tools: Tool names must be unique." })),
    schemas(rootIsObject, ({ at }, { found }) => ({
      message: `tools.${at}.custom.input_schema.type: ${found === undefined ? "Field required" : "Input should be 'object'"}`,
    })),
    // Source: anthropics/claude-code#40075.
    schemas(
      (node, path) => {
        const fault = plainRoot(node, path);
        return fault !== null && ["oneOf", "anyOf", "allOf"].includes(fault.path[0]!) ? fault : null;
      },
      ({ at }) => ({
        message: `tools.${at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`,
      }),
    ),
    // Source: moonrepo/moon#2396.
    schemas(knownTypes, ({ at }) => ({ message: `tools.${at}.custom.input_schema: ${invalidSchema}` })),
    schemas(patternsCompile, ({ at }) => ({ message: `tools.${at}.custom.input_schema: ${invalidSchema}` })),
    schemas(propertyNames(/^[a-zA-Z0-9_.-]{1,64}$/u), ({ at }) => ({
      message: `tools.${at}.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`,
    })),
    fewMarks,
  ],
  toBody: ({ message, type }) => ({
    type: "error",
    error: { type: type ?? "invalid_request_error", message },
    request_id: "req_strict_double",
  }),
  toCallId: (seed) => `toolu_01${lettersOf(seed, 22)}`,
  adorn: (played) => ({
    ...played,
    turn: { ...played.turn, signature: `${sealPrefix}${played.turn.signature ?? played.answer.id}` },
  }),
  window: 200_000,
  overflow: (tokens, window) => ({ message: `prompt is too long: ${tokens} tokens > ${window} maximum` }),
};
