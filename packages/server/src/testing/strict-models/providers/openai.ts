import { openaiWire } from "../../scripted-model/openai-wire.ts";
import { descriptionsUpTo } from "../checks/tools.ts";
import { readChat } from "../readings/read-chat.ts";
import type { StrictProvider } from "../strict-provider.ts";
import { lettersOf, openaiBody, openaiPairing } from "./chat-rules.ts";
import {
  openaiBodyFields,
  openaiJson,
  openaiMessageFields,
  openaiMessages,
  openaiOverflow,
  openaiReasoningFields,
  openaiRoles,
  openaiTools,
  tooLong,
} from "./openai-rules.ts";

/** OpenAI, chat completions. */
export const openai: StrictProvider = {
  name: "openai",
  wire: openaiWire,
  llm: { model: "openai/gpt-4.1" },
  path: "/v1",
  models: ["gpt-4.1", "gpt-4o", "gpt-5", "o3"],
  read: readChat,
  checks: [
    openaiJson,
    openaiBodyFields,
    ...openaiReasoningFields,
    openaiRoles,
    ...openaiMessageFields,
    ...openaiMessages,
    openaiPairing,
    ...openaiTools((at, field) => `tools[${at}].function.${field}`),
    // Source: getsentry/sentry-mcp#106.
    descriptionsUpTo(1024, ({ at }, length) => tooLong(`tools[${at}].function.description`, 1024, length)),
  ],
  toBody: openaiBody,
  toCallId: (seed) => `call_${lettersOf(seed, 24)}`,
  window: 1_000_000,
  overflow: openaiOverflow,
};
