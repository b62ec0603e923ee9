import { openaiWire } from "../../scripted-model/openai-wire.ts";
import { argumentsAreObjects } from "../checks/call-arguments.ts";
import { noSequence } from "../checks/roles.ts";
import { everyPartHasType, localRefs, noLookaround } from "../checks/schema-rules.ts";
import { schemas } from "../checks/tool-schemas.ts";
import { wellFormedArguments, wellFormedBody } from "../checks/well-formed.ts";
import { readChat } from "../readings/read-chat.ts";
import type { Complaint, StrictProvider } from "../strict-provider.ts";
import { lettersOf } from "./chat-rules.ts";

const badSurrogate = (at: number): string =>
  `[json.exception.parse_error.101] parse error at line 1, column ${at + 1}: syntax error while parsing value - ` +
  "invalid string: surrogate U+D800..U+DBFF must be followed by U+DC00..U+DFFF";

/** What a chat template raises is an error of the server. Source: SWE-agent/mini-swe-agent#759. */
function raised(message: string): Complaint {
  return {
    status: 500,
    type: "server_error",
    message: `\n------------\nWhile executing CallExpression at line 46, column 32 in source:\nError: Jinja Exception: ${message}`,
  };
}

/** llama.cpp's server, which makes one grammar of all tools. */
export const llamaCpp: StrictProvider = {
  name: "llama-cpp",
  wire: openaiWire,
  llm: { model: "openai/devstral-small-2" },
  path: "/v1",
  models: ["devstral-small-2"],
  read: readChat,
  checks: [
    wellFormedBody((at) => ({ message: badSurrogate(at) })),
    wellFormedArguments((_message, _call, at) => ({
      ...raised(""),
      message: `Failed to parse tool call arguments as JSON: ${badSurrogate(at)}`,
    })),
    argumentsAreObjects(() => ({
      ...raised(""),
      message:
        "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1, " +
        "column 1: syntax error while parsing value",
    })),
    noSequence(
      (before, message) =>
        before.role === "assistant" && message.role === "assistant" && before.calls.length === 0,
      () => ({ message: "Cannot have 2 or more assistant messages at the end of the list." }),
    ),
    // Sources: sterlp/eclipse-peon-ai#75, SWE-agent/mini-swe-agent#759.
    noSequence(
      (before, message) => before.role === "user" && message.role === "user",
      () =>
        raised(
          "After the optional system message, conversation roles must alternate user and assistant roles except for " +
            "tool calls and results.",
        ),
    ),
    // Source: skye-harris/hass_local_openai_llm#13.
    schemas(everyPartHasType, (_tool, { found }) => ({
      message: `JSON schema conversion failed:\nUnrecognized schema: ${JSON.stringify(found)}`,
    })),
    schemas(localRefs, (_tool, { found }) => ({
      message: `JSON schema conversion failed:\nError resolving ref ${String(found)}`,
    })),
    // Source: codefuturist/email-mcp#72.
    schemas(noLookaround, () => ({ message: "Failed to initialize samplers: failed to parse grammar" })),
  ],
  toBody: ({ message, type, code }, status) => ({
    error: {
      code: status,
      message,
      type: type ?? "invalid_request_error",
      ...(code === undefined ? {} : (JSON.parse(code) as object)),
    },
  }),
  toCallId: (seed) => lettersOf(seed, 24),
  window: 16_384,
  overflow: (tokens, window) => ({
    message: `request (${tokens} tokens) exceeds the available context size (${window} tokens), try increasing it`,
    type: "exceed_context_size_error",
    code: JSON.stringify({ n_prompt_tokens: tokens, n_ctx: window }),
  }),
};
