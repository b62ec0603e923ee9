import { openaiWire } from "../../scripted-model/openai-wire.ts";
import { argumentsAreObjects } from "../checks/call-arguments.ts";
import { contentIsThere } from "../checks/contents.ts";
import { pairing } from "../checks/pairing.ts";
import { noEmptyTools, toolNames } from "../checks/tools.ts";
import { reasoningWanted } from "../checks/wanted-back.ts";
import { wellFormedBody } from "../checks/well-formed.ts";
import { readChat } from "../readings/read-chat.ts";
import type { Complaint, StrictProvider } from "../strict-provider.ts";

/** Source: philschmid/mcp-openai-gemini-llama-example#5. */
function invalid(message: string): Complaint {
  return {
    message: `<400> InternalError.Algo.InvalidParameter: ${message}`,
    code: "invalid_parameter_error",
  };
}

/** Alibaba's DashScope, which serves Qwen. */
export const dashscope: StrictProvider = {
  name: "dashscope",
  wire: openaiWire,
  llm: { model: "dashscope/qwen3-max" },
  path: "/compatible-mode/v1",
  models: ["qwen3-max", "qwen3-coder-plus"],
  read: readChat,
  checks: [
    wellFormedBody(() => ({
      message: "Required body invalid, please check the request body format.",
      code: "invalid_request_error",
    })),
    contentIsThere(() => invalid("The content field is a required field.")),
    noEmptyTools({ message: "[] is too short - 'tools'", code: "invalid_request_error" }),
    toolNames(/^[a-zA-Z0-9_-]{1,64}$/u, ({ at }) =>
      invalid(
        `"tools.${at}.function.name" must consist of letters, digits, underscores and dashes, 64 at most.`,
      ),
    ),
    argumentsAreObjects(() =>
      invalid('The "function.arguments" parameter of the code model must be in JSON format.'),
    ),
    // Sources: QwenLM/qwen-code#2360, google-gemini/gemini-cli#5031.
    pairing({
      missing: (_message, _ids, next) =>
        invalid(
          'An assistant message with "tool_calls" must be followed by tool messages responding to each ' +
            `"tool_call_id". The following tool_call_ids did not have response messages: message[${next}].role`,
        ),
      orphan: () =>
        invalid('messages with role "tool" must be a response to a preceeding message with "tool_calls".'),
    }),
    // It serves models of other providers that want it, with DeepSeek's message; see findings K6 6b.
    reasoningWanted(
      "reasoning_content",
      ({ body }) => body["enable_thinking"] !== false,
      () => invalid("The `reasoning_content` in the thinking mode must be passed back to the API."),
    ),
  ],
  toBody: ({ message, code }) => ({
    error: { code: code ?? "invalid_parameter_error", param: null, message, type: "invalid_request_error" },
    id: "chatcmpl-strict-double",
    request_id: "strict-double",
  }),
  toCallId: (seed) => `call_${seed.slice(0, 24)}`,
  window: 129_024,
  // Sources: QwenLM/qwen-code#98, zed-industries/zed#50729.
  overflow: (_tokens, window) => invalid(`Range of input length should be [1, ${window}]`),
};
