import { openaiWire } from "../../scripted-model/openai-wire.ts";
import { argumentsAreObjects } from "../checks/call-arguments.ts";
import { knownRoles, needsUser } from "../checks/roles.ts";
import { rootIsObject } from "../checks/schema-rules.ts";
import { schemas } from "../checks/tool-schemas.ts";
import { calledNames, toolNames } from "../checks/tools.ts";
import { wellFormedBody } from "../checks/well-formed.ts";
import { readChat } from "../readings/read-chat.ts";
import type { Complaint, StrictProvider } from "../strict-provider.ts";
import { lettersOf } from "./chat-rules.ts";

/** It says no more than this. Source: mozilla-ai/any-llm#714. */
const invalid: Complaint = { message: "Input validation error" };

const name = /^[a-zA-Z0-9_-]{1,64}$/u;

/** Together. */
export const together: StrictProvider = {
  name: "together",
  wire: openaiWire,
  llm: { model: "together_ai/Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8" },
  path: "/v1",
  models: ["Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", "openai/gpt-oss-120b"],
  read: readChat,
  checks: [
    wellFormedBody(() => invalid),
    knownRoles(["system", "user", "assistant", "tool"], () => invalid),
    needsUser(invalid),
    toolNames(name, () => invalid),
    calledNames(name, () => invalid),
    argumentsAreObjects(() => invalid),
    schemas(rootIsObject, () => invalid),
  ],
  toBody: ({ message, type }) => ({
    id: "strict-double",
    error: { message, type: type ?? "invalid_request_error", param: null, code: null },
  }),
  toCallId: (seed) => `call_${lettersOf(seed, 24)}`,
  window: 262_144,
  overflow: (tokens, window) => ({
    status: 422,
    message:
      `Input validation error: \`inputs\` tokens + \`max_new_tokens\` must be <= ${window}. ` +
      `Given: ${tokens} \`inputs\` tokens and 2048 \`max_new_tokens\``,
  }),
};
