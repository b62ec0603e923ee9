import { openaiWire } from "../../scripted-model/openai-wire.ts";
import { argumentsAreObjects } from "../checks/call-arguments.ts";
import { noSequence } from "../checks/roles.ts";
import { noEmptyTools } from "../checks/tools.ts";
import { wellFormedArguments, wellFormedBody } from "../checks/well-formed.ts";
import { readChat } from "../readings/read-chat.ts";
import type { StrictProvider } from "../strict-provider.ts";

const notUnicode = (at: number): string =>
  `[{'type': 'string_unicode', 'loc': ('body', 'messages', ${at}), 'msg': ` +
  "'Input should be a valid string, unable to parse raw data as a unicode string'}]";

/** vLLM with a chat template that wants its roles to alternate, as those of Gemma and Mistral do. */
export const vllm: StrictProvider = {
  name: "vllm",
  wire: openaiWire,
  llm: { model: "hosted_vllm/google/gemma-3-27b-it" },
  path: "/v1",
  models: ["google/gemma-3-27b-it"],
  read: readChat,
  checks: [
    wellFormedBody(() => ({ message: notUnicode(0) })),
    wellFormedArguments(({ at }) => ({ message: notUnicode(at) })),
    // The arguments are read by `json.loads` before the template sees them.
    argumentsAreObjects(() => ({ message: "Expecting value: line 1 column 1 (char 0)" })),
    // Sources: weaviate/Verba#150, microsoft/autogen#1037, Yoosu-L/llmapibenchmark#6.
    noSequence(
      (before, message) =>
        before.role === message.role && message.role !== "tool" && before.calls.length === 0,
      () => ({ message: "Conversation roles must alternate user/assistant/user/assistant/..." }),
    ),
    noEmptyTools({
      message:
        "`tools` must not be an empty array. Either provide at least one tool or omit the field entirely.",
    }),
  ],
  toBody: ({ message }, status) => ({
    error: { message, type: "BadRequestError", param: null, code: status },
  }),
  toCallId: (seed) => `chatcmpl-tool-${seed}`,
  window: 131_072,
  overflow: (tokens, window) => ({
    message:
      `This model's maximum context length is ${window} tokens. However, your request has ${tokens} input tokens. ` +
      "Please reduce the length of the input messages.",
  }),
};
