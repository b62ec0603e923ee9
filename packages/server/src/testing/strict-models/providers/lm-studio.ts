import { openaiWire } from "../../scripted-model/openai-wire.ts";
import { argumentsAreObjects } from "../checks/call-arguments.ts";
import { noEmptyMessages } from "../checks/contents.ts";
import { noLookaround } from "../checks/schema-rules.ts";
import { schemas } from "../checks/tool-schemas.ts";
import { wellFormedBody } from "../checks/well-formed.ts";
import { readChat } from "../readings/read-chat.ts";
import type { StrictProvider } from "../strict-provider.ts";

/** LM Studio, which puts its error into one text. */
export const lmStudio: StrictProvider = {
  name: "lm-studio",
  wire: openaiWire,
  llm: { model: "lm_studio/qwen3-8b" },
  path: "/v1",
  models: ["qwen3-8b"],
  read: readChat,
  checks: [
    wellFormedBody(() => ({ message: "Unexpected token in the JSON of the request body: lone surrogate" })),
    // Sources: microsoft/autogen#1521, reorproject/reor#27.
    noEmptyMessages(
      () => ({
        message: "'messages' array must only contain objects with a 'content' field that is not empty",
      }),
      ["system", "user", "assistant"],
    ),
    argumentsAreObjects(() => ({ message: "Failed to parse tool call arguments as JSON" })),
    // Source: codefuturist/email-mcp#72.
    schemas(noLookaround, () => ({ message: "Failed to initialize samplers: failed to parse grammar" })),
  ],
  toBody: ({ message }) => ({ error: message }),
  toCallId: (seed) => `${BigInt(`0x${seed.slice(0, 8)}`)}`.padStart(9, "1").slice(0, 9),
  window: 32_768,
  // Sources: lmstudio-ai/lmstudio-bug-tracker#237 and #546.
  overflow: (tokens, window) => ({
    message:
      `Trying to keep the first ${tokens} tokens when context the overflows. However, the model is loaded with ` +
      `context length of only ${window} tokens, which is not enough. Try to load the model with a larger context ` +
      "length, or provide a shorter input",
  }),
};
