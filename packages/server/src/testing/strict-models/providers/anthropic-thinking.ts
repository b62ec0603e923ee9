import { isValue, listOf, type ReadMessage } from "../readings/reading.ts";
import type { Check, Complaint } from "../strict-provider.ts";

/** Signatures of the double begin with this; any other was made elsewhere. */
export const sealPrefix = "EqQBCkgIstrict-double-";

/** Thinking comes back with the signature that it was given. Source: anthropics/claude-code, reports of this sentence. */
const ownSignatures: Check = (_request, { messages }) => {
  for (const { at, raw } of messages) {
    for (const [part, block] of listOf(raw["content"]).entries()) {
      if (block["type"] !== "thinking") continue;
      const { signature } = block;
      if (typeof signature !== "string" || !signature.startsWith(sealPrefix)) {
        return { message: `messages.${at}.content.${part}: Invalid \`signature\` in \`thinking\` block` };
      }
    }
  }
  return null;
};

/** With a budget for thinking, an answer that calls begins with what was thought. Source: Anthropic documentation, extended thinking. */
const thinkingFirst: Check = ({ body }, { messages }) => {
  if (!isValue(body["thinking"]) || body["thinking"]["type"] !== "enabled") return null;
  const last = messages.findLast(({ role }) => role === "assistant");
  return last !== undefined && isInLoop(messages, last) ? wrongStart(last) : null;
};

const thinkingFields: Check = ({ body }) => {
  const thinking = isValue(body["thinking"]) ? body["thinking"] : {};
  if (thinking["type"] !== "enabled") return null;
  const budget = Number(thinking["budget_tokens"]);
  if (!(budget >= 1024)) {
    return { message: "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024" };
  }
  if (budget >= Number(body["max_tokens"])) {
    return { message: "`max_tokens` must be greater than `thinking.budget_tokens`." };
  }
  const temperature = body["temperature"] ?? 1;
  return temperature === 1
    ? null
    : { message: "`temperature` may only be set to 1 when thinking is enabled." };
};

export const anthropicThinking: readonly Check[] = [thinkingFields, ownSignatures, thinkingFirst];

/** Whether the last message answers calls of this one. */
function isInLoop(messages: readonly ReadMessage[], last: ReadMessage): boolean {
  return last.calls.length > 0 && messages.at(-1)!.results.length > 0;
}

function wrongStart({ at, raw }: ReadMessage): Complaint | null {
  const [first] = listOf(raw["content"]);
  const type = String(first?.["type"]);
  return ["thinking", "redacted_thinking"].includes(type)
    ? null
    : {
        message:
          `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\`. ` +
          "When `thinking` is enabled, a final `assistant` message must start with a thinking block " +
          "(preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
      };
}
