import { openaiWire } from "../../scripted-model/openai-wire.ts";
import { noEmptyMessages } from "../checks/contents.ts";
import { fieldUpTo } from "../checks/fields.ts";
import { pairing } from "../checks/pairing.ts";
import {
  everyPartHasType,
  itemsAreOneSchema,
  localRefs,
  noTypeBesideAnyOf,
  requiredIsDefined,
} from "../checks/schema-rules.ts";
import { schemas, type SchemaRule } from "../checks/tool-schemas.ts";
import { toolNames, toolsUpTo, uniqueToolNames } from "../checks/tools.ts";
import { reasoningWanted } from "../checks/wanted-back.ts";
import { wellFormedBody } from "../checks/well-formed.ts";
import { readChat } from "../readings/read-chat.ts";
import type { Check, StrictProvider } from "../strict-provider.ts";
import { openaiBody } from "./chat-rules.ts";
import { isThinking } from "./deepseek.ts";

const functionName = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/u;

/** `details` of a schema that is not of their kind. Sources: MoonshotAI/kimi-cli#2531 and #2061, earendil-works/pi#4138. */
function flavored(rule: SchemaRule, details: (found: unknown) => string): Check {
  return schemas(rule, (_tool, { path, found }) => {
    const steps = path.filter((step) => !/^(?:\d+|required|type|\$ref)$/u.test(step)).join(".");
    return {
      message:
        "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, " +
        `details: <At path '${steps === "" ? "root" : steps}': ${details(found)}>`,
    };
  });
}

/** Moonshot's Kimi. */
export const moonshot: StrictProvider = {
  name: "moonshot",
  wire: openaiWire,
  llm: { model: "moonshot/kimi-k2.6" },
  path: "/v1",
  models: ["kimi-k2.6", "kimi-k2-thinking", "kimi-k3"],
  read: readChat,
  checks: [
    wellFormedBody(() => ({
      message: "Invalid request: failed to parse the JSON body: invalid surrogate pair",
    })),
    noEmptyMessages(({ at, role }) => ({
      message: `Invalid request: the message at position ${at} with role '${role}' must not be empty`,
    })),
    // Source: reports of «tool_call_id  is not found» to MoonshotAI/kimi-cli.
    pairing({
      missing: (_message, ids) => ({
        message:
          "Invalid request: an assistant message with 'tool_calls' must be followed by tool messages responding to " +
          `each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`,
      }),
      orphan: (_message, { id }) => ({ message: `Invalid request: tool_call_id ${id} is not found` }),
    }),
    // Sources: openclaw/openclaw#74846, mastra-ai/mastra#12592, n8n-io/n8n#29142.
    reasoningWanted("reasoning_content", isThinking, ({ at }) => ({
      message: `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`,
    })),
    toolsUpTo(128, () => ({ message: "Invalid request: the number of tools must not be more than 128" })),
    toolNames(functionName, () => ({
      message:
        "Invalid request: function name is invalid, must start with a letter and can contain letters, numbers, " +
        "underscores, and dashes",
    })),
    uniqueToolNames(({ name }) => ({ message: `Invalid request: function name ${name} is duplicated` })),
    schemas(
      (node, path) => (path.length > 0 || node["type"] === "object" ? null : { path, found: node }),
      () => ({ message: 'Invalid request: tools.function.parameters.type is required and must be "object"' }),
    ),
    flavored(
      noTypeBesideAnyOf,
      () => "when using anyOf, type should be defined in anyOf items instead of the parent schema",
    ),
    flavored(everyPartHasType, () => "type is not defined"),
    // Source: vercel/ai#18921.
    flavored(itemsAreOneSchema, () => "items must be an object"),
    // Source: MoonshotAI/kimi-code#1610.
    flavored(
      requiredIsDefined,
      (found) => `required property '${String(found)}' is not defined in properties`,
    ),
    // Source: CommandCodeAI/command-code#594.
    flavored(localRefs, () => "references must start with #/$defs/"),
    fieldUpTo("temperature", 1, () => ({ message: "invalid temperature: only 1 is allowed for this model" })),
  ],
  toBody: openaiBody,
  // As the model itself names them; they hold what other providers refuse.
  toCallId: (seed, name, index) => `functions.${name}:${index}_${seed.slice(0, 4)}`,
  window: 262_144,
  overflow: (_tokens, window) => ({
    message: `Invalid request: Your request exceeded model token limit: ${window}`,
  }),
};
