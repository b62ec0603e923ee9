import { createChatWire } from "../../scripted-model/openai-wire.ts";
import { noImages } from "../checks/contents.ts";
import { onlyBodyFields, onlyCallFields, onlyMessageFields } from "../checks/fields.ts";
import { knownRoles } from "../checks/roles.ts";
import { everyPartHasType, knownTypes, requiredHasProperties } from "../checks/schema-rules.ts";
import { schemas } from "../checks/tool-schemas.ts";
import { noEmptyTools, toolNames, toolsUpTo } from "../checks/tools.ts";
import { messageFieldRefused } from "../checks/wanted-back.ts";
import { wellFormedBody } from "../checks/well-formed.ts";
import { readChat } from "../readings/read-chat.ts";
import type { ReadMessage, ReadTool } from "../readings/reading.ts";
import type { Complaint, StrictProvider } from "../strict-provider.ts";
import { lettersOf } from "./chat-rules.ts";

/** Sources: janhq/jan#8136, NousResearch/hermes-agent#11089, ServiceStack/llms#17. */
function unsatisfied({ at, role }: ReadMessage, what: string): Complaint {
  return {
    message: `'messages.${at}' : for 'role:${role}' the following must be satisfied[('messages.${at}' : ${what})]`,
  };
}

/** Sources: usestrix/strix#1088, livekit/agents#4610. */
function invalidSchema({ name, at }: ReadTool, what: string): Complaint {
  const param = `tool ${name}, tools[${at}].function.parameters`;
  return { message: `invalid JSON schema for ${param}: ${what}`, param };
}

/** Groq. Its reasoning is in a field of another name than the one that most use. */
export const groq: StrictProvider = {
  name: "groq",
  wire: createChatWire({ toReasoning: (reasoning) => ({ reasoning }) }),
  llm: { model: "groq/openai/gpt-oss-120b", disable_vision: true },
  path: "/openai/v1",
  models: ["openai/gpt-oss-120b", "moonshotai/kimi-k2-instruct", "llama-3.3-70b-versatile"],
  read: readChat,
  checks: [
    wellFormedBody(() => ({
      message: "could not parse the JSON body of your request: invalid surrogate pair",
    })),
    onlyBodyFields(
      [
        "model messages tools tool_choice parallel_tool_calls stream stream_options temperature top_p seed stop n user",
        "max_tokens max_completion_tokens reasoning_effort reasoning_format include_reasoning response_format",
        "frequency_penalty presence_penalty logit_bias logprobs top_logprobs service_tier metadata documents",
        "search_settings compound_custom disable_tool_validation citation_options",
      ].flatMap((line) => line.split(" ")),
      // Source: fanenr/chatbot#21.
      (field) => ({ message: `property '${field}' is unsupported` }),
    ),
    knownRoles(["system", "developer", "user", "assistant", "tool"], ({ at }) => ({
      message: `'messages.${at}' : discriminator property 'role' has invalid value`,
    })),
    onlyMessageFields(
      {
        system: ["role", "content", "name"],
        developer: ["role", "content", "name"],
        user: ["role", "content", "name"],
        assistant: ["role", "content", "name", "tool_calls", "reasoning", "channel"],
        tool: ["role", "content", "tool_call_id", "name"],
      },
      (message, field) => unsatisfied(message, `property '${field}' is unsupported`),
    ),
    // Source: vercel/ai#8057.
    messageFieldRefused("reasoning", /kimi|llama/u, ({ at }) => ({
      message: `messages[${at}].reasoning: reasoning is not supported with this model`,
    })),
    onlyCallFields(["id", "type", "function", "index"], (message, { part }, field) => ({
      message:
        `'messages.${message.at}' : for 'role:assistant' the following must be satisfied[` +
        `('messages.${message.at}.tool_calls.${part}' : property '${field}' is unsupported)]`,
    })),
    noImages((message) => unsatisfied(message, "content must be a string")),
    (_request, { messages }) => {
      const bare = messages.find(({ role, results }) => role === "tool" && (results[0]?.id ?? "") === "");
      return bare === undefined ? null : unsatisfied(bare, "property 'tool_call_id' is missing");
    },
    noEmptyTools({ message: "'tools' : minimum number of items is 1" }),
    toolsUpTo(128, () => ({ message: "'tools' : maximum number of items is 128" })),
    toolNames(/^[a-zA-Z0-9_-]{1,64}$/u, ({ at }) => ({
      message: `'tools.${at}.function.name' : value must match the pattern ^[a-zA-Z0-9_-]{1,64}$`,
    })),
    schemas(requiredHasProperties, (tool) =>
      invalidSchema(tool, "'required' present but 'properties' is missing"),
    ),
    schemas(knownTypes, (tool, { path }) => invalidSchema(tool, `\`/${path.join("/")}\`: invalid type`)),
    schemas(everyPartHasType, ({ name }, { path }) => ({
      message:
        `Invalid schema for function '${name}': In context=(${path.map((step) => `'${step}'`).join(", ")}), ` +
        "schema must have a 'type' key.",
    })),
  ],
  toBody: ({ message, param, code }) => ({
    error: {
      message,
      type: "invalid_request_error",
      ...(param === undefined ? {} : { param }),
      ...(code === undefined ? {} : { code }),
    },
  }),
  toCallId: (seed) => `fc_${lettersOf(seed, 9)}-${seed.slice(0, 12)}`,
  window: 131_072,
  overflow: () => ({
    message: "Please reduce the length of the messages or completion.",
    param: "messages",
    code: "context_length_exceeded",
  }),
};

/** A name that elsewhere wants its reasoning back, at a place that refuses the field. Source: freellmapi#1070. */
export const groqKimi: StrictProvider = {
  ...groq,
  name: "groq-kimi",
  wire: createChatWire(),
  llm: { model: "groq/moonshotai/kimi-k2-thinking", disable_vision: true },
  models: ["moonshotai/kimi-k2-thinking"],
};
