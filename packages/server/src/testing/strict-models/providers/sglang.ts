import { openaiWire } from "../../scripted-model/openai-wire.ts";
import { argumentsAreObjects } from "../checks/call-arguments.ts";
import { systemFirst } from "../checks/roles.ts";
import { patternsCompile } from "../checks/schema-rules.ts";
import { schemas } from "../checks/tool-schemas.ts";
import { wellFormedArguments, wellFormedBody } from "../checks/well-formed.ts";
import { readChat } from "../readings/read-chat.ts";
import type { StrictProvider } from "../strict-provider.ts";

const notUnicode = "'utf-8' codec can't encode character: surrogates not allowed";

/** SGLang with a chat template of Qwen, which wants its system message first. */
export const sglang: StrictProvider = {
  name: "sglang",
  wire: openaiWire,
  llm: { model: "openai/Qwen/Qwen3-32B" },
  path: "/v1",
  models: ["Qwen/Qwen3-32B"],
  read: readChat,
  checks: [
    wellFormedBody(() => ({ message: notUnicode })),
    wellFormedArguments(() => ({ message: notUnicode })),
    argumentsAreObjects(() => ({ message: "Expecting value: line 1 column 1 (char 0)" })),
    systemFirst(() => ({ message: "System message must be at the beginning." }), 1),
    schemas(patternsCompile, ({ at }) => ({
      message: `Tool ${at} function has invalid 'parameters' schema: the pattern is not a regular expression`,
    })),
  ],
  toBody: ({ message }, status) => ({
    object: "error",
    message,
    type: "BadRequestError",
    param: null,
    code: status,
  }),
  toCallId: (seed) => `call_${seed.slice(0, 24)}`,
  window: 40_960,
  overflow: (tokens, window) => ({
    message: `The input (${tokens} tokens) is longer than the model's context length (${window} tokens).`,
  }),
};
