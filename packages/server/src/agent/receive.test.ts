import type { MessageToolCall } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import { defaultTools, facesOf, listTool } from "@convoke/tool-host";
import { expect, test } from "vitest";
import type { ModelResponse } from "../models/model.ts";
import { receiveResponse } from "./receive.ts";
import { createCallReader } from "./tool-call.ts";
import { text } from "./observation-content.ts";

const place = {
  sessionId: "s",
  workspaceDir: "/w",
  stateDir: "/s",
  environment: {},
  params: {},
  canSee: false,
};
const listings = defaultTools().flatMap((tool) => facesOf(tool).map((face) => listTool(face, place)));

const readCall = createCallReader(
  listings.filter(({ name }) => ["terminal", "think", "finish"].includes(name)),
  createValidator(),
);

const toolCall = (id: string, name: string, args: object): MessageToolCall => ({
  id,
  name,
  arguments: JSON.stringify(args),
  origin: "completion",
});

function response(words: string, ...toolCalls: MessageToolCall[]): ModelResponse {
  return {
    id: "resp-7",
    model: "m",
    message: {
      role: "assistant",
      content: words === "" ? [] : [text(words)],
      toolCalls,
      reasoningContent: "because",
      thinkingBlocks: [{ type: "thinking", thinking: "...", signature: "sig" }],
      reasoningItem: null,
    },
    usage: {
      promptTokens: 1,
      completionTokens: 1,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
      contextWindow: 0,
      cost: null,
    },
    latencyMs: 1,
    isTruncated: false,
  };
}

const context = { sawSeq: 4, readCall, analyzer: null, policy: { kind: "NeverConfirm" } } as const;

const bodies = (drafts: ReturnType<typeof receiveResponse>) =>
  drafts.map(({ body, meta }) => ({ ...(body as Record<string, unknown>), meta }));

test("L21.2: one action per call in order; thought and thinking blocks are on the first only", () => {
  const drafts = bodies(
    receiveResponse(
      response(
        "Looking.",
        toolCall("a", "terminal", { command: "ls" }),
        toolCall("b", "terminal", { command: "pwd" }),
      ),
      context,
    ),
  );
  expect(drafts).toMatchObject([
    {
      kind: "ActionEvent",
      tool_call_id: "a",
      thought: [text("Looking.")],
      reasoning_content: "because",
      llm_response_id: "resp-7",
      meta: { sawSeq: 4, gate: "approved" },
    },
    {
      kind: "ActionEvent",
      tool_call_id: "b",
      thought: [],
      thinking_blocks: [],
      llm_response_id: "resp-7",
      meta: { gate: "approved" },
    },
  ]);
  expect(drafts[1]).not.toHaveProperty("reasoning_content");
});

test("L21.5: a bad call is an action without action plus its error; its siblings are untouched", () => {
  const drafts = bodies(
    receiveResponse(
      response("", toolCall("a", "nothing", {}), toolCall("b", "think", { thought: "x" })),
      context,
    ),
  );
  expect(drafts.map((draft) => (draft as { kind?: string }).kind)).toEqual([
    "ActionEvent",
    "AgentErrorEvent",
    "ActionEvent",
  ]);
  expect(drafts[0]).not.toHaveProperty("action");
  expect(drafts[0]).toMatchObject({ security_risk: "UNKNOWN", tool_name: "nothing" });
});

test("L23.4: calls behind finish are answered at once and never run", () => {
  const drafts = bodies(
    receiveResponse(
      response(
        "",
        toolCall("f", "finish", { message: "done" }),
        toolCall("x", "terminal", { command: "rm -rf /" }),
      ),
      context,
    ),
  );
  expect(drafts).toMatchObject([
    { kind: "ActionEvent", tool_name: "finish" },
    { kind: "ActionEvent", tool_name: "terminal" },
    { kind: "AgentErrorEvent", tool_call_id: "x", meta: { isFinal: true } },
  ]);
  expect(drafts[1]).not.toHaveProperty("action");
});

test("L23.12: read-only tools are LOW; others take the model's estimate only with the analyzer that uses it", () => {
  const calls = response(
    "",
    toolCall("a", "think", { thought: "x" }),
    toolCall("b", "terminal", { command: "ls", security_risk: "HIGH" }),
  );
  const risks = (analyzer: Parameters<typeof receiveResponse>[1]["analyzer"]) =>
    bodies(receiveResponse(calls, { ...context, analyzer })).map(
      (draft) => (draft as { security_risk?: string }).security_risk,
    );
  expect(risks(null)).toEqual(["LOW", "UNKNOWN"]);
  expect(risks({ kind: "LLMSecurityAnalyzer" })).toEqual(["LOW", "HIGH"]);
});

test.each([
  ["AlwaysConfirm", [toolCall("a", "think", { thought: "x" })], "approved"],
  ["AlwaysConfirm", [toolCall("f", "finish", { message: "x" })], "approved"],
  ["AlwaysConfirm", [toolCall("a", "terminal", { command: "ls" })], "awaiting"],
  ["ConfirmRisky", [toolCall("a", "terminal", { command: "ls", security_risk: "LOW" })], "approved"],
  ["ConfirmRisky", [toolCall("a", "terminal", { command: "ls", security_risk: "HIGH" })], "awaiting"],
  ["ConfirmRisky", [toolCall("a", "terminal", { command: "ls" })], "awaiting"],
  [
    "ConfirmRisky",
    [toolCall("a", "think", { thought: "x" }), toolCall("b", "think", { thought: "y" })],
    "approved",
  ],
] as const)("%s with %j is %s", (kind, calls, gate) => {
  const drafts = receiveResponse(response("", ...calls), {
    ...context,
    policy: { kind },
    analyzer: { kind: "LLMSecurityAnalyzer" },
  });
  expect(drafts.map(({ meta }) => meta?.gate)).toEqual(calls.map(() => gate));
});

test("L23.14: an empty answer is followed by a nudge that is not attributed to the user", () => {
  expect(bodies(receiveResponse(response(""), context))).toMatchObject([
    { kind: "MessageEvent", source: "agent", llm_message: { content: [] }, meta: { sawSeq: 4 } },
    { kind: "MessageEvent", source: "environment", llm_message: { role: "user" } },
  ]);
});

test("a text answer is the exact message", () => {
  expect(bodies(receiveResponse(response("All good."), context))).toMatchObject([
    {
      kind: "MessageEvent",
      source: "agent",
      llm_response_id: "resp-7",
      llm_message: { role: "assistant", content: [text("All good.")], reasoning_content: "because" },
    },
  ]);
});

test("an answer that is truncated at its limit is not final: the model is asked to continue", () => {
  const cut = (words: string) => ({ ...response(words), isTruncated: true });
  expect(bodies(receiveResponse(cut("First half"), context))).toMatchObject([
    { source: "agent", llm_message: { content: [text("First half")] }, meta: { sawSeq: 4 } },
    {
      source: "environment",
      llm_message: { content: [{ text: expect.stringContaining("Go on from where it ended") }] },
    },
  ]);
  expect(bodies(receiveResponse(cut(""), context))).toMatchObject([
    { source: "agent" },
    {
      source: "environment",
      llm_message: { content: [{ text: expect.stringContaining("before it said anything") }] },
    },
  ]);
});

test.each(['{"command":"rm -rf /tmp/bui', "{}", ""])(
  "of an answer that is cut off the calls before the last one run, half a call does not: %j",
  (half) => {
    const whole = toolCall("a", "terminal", { command: "ls" });
    const last = { ...toolCall("b", "terminal", {}), arguments: half };
    const drafts = bodies(receiveResponse({ ...response("", whole, last), isTruncated: true }, context));
    expect(drafts).toMatchObject([
      { kind: "ActionEvent", action: { command: "ls" }, meta: { gate: "approved" } },
      { kind: "ActionEvent", tool_call: last },
      {
        kind: "AgentErrorEvent",
        tool_call_id: "b",
        error: expect.stringContaining("in the middle of this call of terminal"),
      },
    ]);
    expect(drafts[1]).not.toHaveProperty("action");
  },
);

test("a call that is whole runs although the answer was cut off behind it", () => {
  const drafts = receiveResponse(
    { ...response("", toolCall("a", "terminal", { command: "ls" })), isTruncated: true },
    context,
  );
  expect(drafts.map(({ meta }) => meta?.gate)).toEqual(["approved"]);
});
