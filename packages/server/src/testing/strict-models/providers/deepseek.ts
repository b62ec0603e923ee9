import { openaiWire } from "../../scripted-model/openai-wire.ts";
import { contentIsThere, noImages } from "../checks/contents.ts";
import { pairing } from "../checks/pairing.ts";
import { calledNames, noEmptyTools, toolNames, toolsUpTo, uniqueToolNames } from "../checks/tools.ts";
import { messageFieldRefused, reasoningWanted } from "../checks/wanted-back.ts";
import { wellFormedBody } from "../checks/well-formed.ts";
import { readChat } from "../readings/read-chat.ts";
import { isValue } from "../readings/reading.ts";
import type { Check, Complaint, StrictProvider, StrictRequest } from "../strict-provider.ts";
import { openaiBody } from "./chat-rules.ts";

const code = "invalid_request_error";

function unreadable(what: string): Complaint {
  return { message: `Failed to deserialize the JSON body into the target type: ${what}`, code };
}

const badName =
  "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.";

/** Thinking is on unless it is switched off. Source: DeepSeek documentation, thinking mode. */
export function isThinking({ body }: StrictRequest): boolean {
  return !isValue(body["thinking"]) || body["thinking"]["type"] !== "disabled";
}

const common: readonly Check[] = [
  wellFormedBody((at) => unreadable(`lone leading surrogate in hex escape at line 1 column ${at + 1}`)),
  noImages(({ at }) => unreadable(`messages[${at}]: unknown variant \`image_url\`, expected \`text\``)),
  contentIsThere(({ at }) => unreadable(`messages[${at}]: missing field \`content\``)),
  noEmptyTools({ message: "[] is too short - 'tools'", code }),
  toolsUpTo(128, () => ({ message: "Invalid 'tools': array too long.", code })),
  toolNames(/^[a-zA-Z0-9_-]{1,64}$/u, ({ at }) => ({
    message: `Invalid 'tools[${at}].function.name': ${badName}`,
    code,
  })),
  calledNames(/^[a-zA-Z0-9_-]{1,64}$/u, ({ at }, { part }) => ({
    message: `Invalid 'messages[${at}].tool_calls[${part}].function.name': ${badName}`,
    code,
  })),
  uniqueToolNames(() => ({ message: "Tool names must be unique.", code })),
  // Source: BigPizzaV3/CodexPlusPlus#329.
  pairing({
    missing: () => ({
      message:
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
        "(insufficient tool messages following tool_calls message)",
      code,
    }),
    orphan: () => ({
      message: "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
      code,
    }),
  }),
];

/** DeepSeek from V4 on: what was thought comes back with every call. */
export const deepseek: StrictProvider = {
  name: "deepseek",
  wire: openaiWire,
  llm: { model: "deepseek/deepseek-v4-pro", disable_vision: true },
  path: "/v1",
  models: ["deepseek-v4-pro", "deepseek-v4-flash"],
  read: readChat,
  checks: [
    ...common,
    // Sources: mnfst/modelparams.dev#29, earendil-works/pi#3636.
    reasoningWanted("reasoning_content", isThinking, () => ({
      message: "The `reasoning_content` in the thinking mode must be passed back to the API.",
      code,
    })),
  ],
  toBody: openaiBody,
  toCallId: (seed) => `call_00_${seed.slice(0, 24)}`,
  window: 131_072,
  overflow: (tokens, window) => ({
    message:
      `This model's maximum context length is ${window} tokens. However, you requested ${tokens} tokens ` +
      `(${tokens} in the messages, 0 in the completion). Please reduce the length of the messages or completion.`,
    code,
  }),
};

/** The same under a name that says nothing about it, as gateways and deployments give them. */
export const deepseekAlias: StrictProvider = {
  ...deepseek,
  name: "deepseek-alias",
  llm: { model: "openai/ds-prod-alias", disable_vision: true },
  models: ["ds-prod-alias"],
};

/** DeepSeek before V3.2 refused the field. Source: DeepSeek documentation of 2025, reasoning model, multi-round conversation. */
export const deepseekOlder: StrictProvider = {
  ...deepseek,
  name: "deepseek-older",
  llm: { model: "deepseek/deepseek-reasoner", disable_vision: true },
  models: ["deepseek-reasoner"],
  checks: [
    ...common,
    messageFieldRefused("reasoning_content", /./u, ({ at }) => ({
      message: `messages[${at}]: the \`reasoning_content\` field must not be included in the input messages.`,
      code,
    })),
  ],
};
