import { openaiWire } from "../../scripted-model/openai-wire.ts";
import { argumentsAreObjects } from "../checks/call-arguments.ts";
import { contentIsThere, noEmptyMessages } from "../checks/contents.ts";
import { pairing } from "../checks/pairing.ts";
import { knownRoles, needsUser } from "../checks/roles.ts";
import { rootIsObject } from "../checks/schema-rules.ts";
import { schemas } from "../checks/tool-schemas.ts";
import { calledNames, noEmptyTools, toolNames, toolsUpTo } from "../checks/tools.ts";
import { reasoningWanted } from "../checks/wanted-back.ts";
import { wellFormedBody } from "../checks/well-formed.ts";
import { readChat } from "../readings/read-chat.ts";
import type { Complaint, StrictProvider } from "../strict-provider.ts";
import { isThinking } from "./deepseek.ts";

/** It never says which message or why. Sources: MetaGLM/zhipuai-sdk-python-v4#14, anomalyco/opencode#2557. */
const illegalMessages: Complaint = {
  message: "The messages parameter is illegal. Please check the documentation.",
  code: "1214",
};

const illegalTools: Complaint = {
  message: "The tools parameter is illegal. Please check the documentation.",
  code: "1214",
};

const name = /^[a-zA-Z0-9_-]{1,64}$/u;

/** Zhipu's GLM, at Z.ai. */
export const glm: StrictProvider = {
  name: "glm",
  wire: openaiWire,
  llm: { model: "zai/glm-5" },
  path: "/api/paas/v4",
  models: ["glm-5", "glm-4.7"],
  read: readChat,
  checks: [
    wellFormedBody(() => ({
      message: "Invalid API parameter, please check the documentation.",
      code: "1210",
    })),
    knownRoles(["system", "user", "assistant", "tool"], () => illegalMessages),
    // Source: a comment in anomalyco/opencode#2557.
    needsUser(illegalMessages),
    contentIsThere(() => illegalMessages),
    noEmptyMessages(() => illegalMessages, ["user"]),
    calledNames(name, () => illegalMessages),
    argumentsAreObjects(() => illegalMessages),
    pairing({ missing: () => illegalMessages, orphan: () => illegalMessages }),
    reasoningWanted("reasoning_content", isThinking, () => ({
      message: "The reasoning_content in the thinking mode must be passed back to the API.",
      code: "1214",
    })),
    noEmptyTools(illegalTools),
    toolsUpTo(128, () => illegalTools),
    toolNames(name, () => illegalTools),
    schemas(rootIsObject, () => illegalTools),
  ],
  toBody: ({ message, code }) => ({ error: { code: code ?? "1210", message } }),
  // Digits, as in MetaGLM/zhipuai-sdk-python-v4#14.
  toCallId: (seed) => `call_${BigInt(`0x${seed.slice(0, 15)}`)}`,
  window: 204_800,
  overflow: () => ({ message: "Prompt exceeds max length", code: "1261" }),
};
