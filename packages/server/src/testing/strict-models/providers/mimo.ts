import { reasoningWanted } from "../checks/wanted-back.ts";
import { noEmptyTools } from "../checks/tools.ts";
import type { StrictProvider } from "../strict-provider.ts";
import { openaiPairing } from "./chat-rules.ts";
import { deepseek, isThinking } from "./deepseek.ts";
import { openaiJson } from "./openai-rules.ts";

/** Xiaomi MiMo, which says what it misses in `param`. Sources: earendil-works/pi#4504, tailcallhq/forgecode#3347. */
export const mimo: StrictProvider = {
  ...deepseek,
  name: "mimo",
  llm: { model: "openai/mimo-v2-flash" },
  path: "/v1",
  models: ["mimo-v2-flash", "mimo-v2.5-pro"],
  checks: [
    openaiJson,
    openaiPairing,
    noEmptyTools({ message: "Param Incorrect", param: "tools must not be empty" }),
    reasoningWanted("reasoning_content", isThinking, () => ({
      message: "Param Incorrect",
      param: "The reasoning_content in the thinking mode must be passed back to the API.",
    })),
  ],
  toBody: ({ message, param }, status) => ({
    error: { code: `${status}`, message, param: param ?? "", type: "" },
  }),
  toCallId: (seed) => `call_${seed.slice(0, 24)}`,
};
