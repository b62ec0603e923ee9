import type { Event } from "@convoke/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Script, ScriptToolCall, ScriptTurn } from "../../../testing/scripted-model/script.ts";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const shell = (command: string, id?: string): ScriptToolCall => ({
  name: "terminal",
  arguments: { command },
  ...(id === undefined ? {} : { id }),
});

/** What the model says when the user names the case; then it says that it is done. */
const answers: Record<string, readonly ScriptTurn[]> = {
  CONTENT: [{ text: "Just words." }],
  EMPTY: [{ text: "" }],
  REASONING: [{ reasoning: "thinking only" }],
  PARALLEL: [
    {
      text: "Three at once.",
      tool_calls: [shell("a"), shell("b"), { name: "grep", arguments: { pattern: "c" } }],
    },
    { text: "Done." },
  ],
  SAMEIDS: [{ tool_calls: [shell("first", "same"), shell("second", "same")] }, { text: "Done." }],
  MALFORMED: [
    { tool_calls: [{ name: "terminal", arguments: '{"command": "ls"' }, shell("good")] },
    { text: "Done." },
  ],
  MISSING: [{ tool_calls: [{ name: "terminal", arguments: {} }] }, { text: "Done." }],
  WRONGTYPE: [
    { tool_calls: [{ name: "terminal", arguments: { command: "ls", timeout: "soon" } }] },
    { text: "Done." },
  ],
  UNKNOWN: [{ tool_calls: [{ name: "teleport", arguments: { where: "Mars" } }] }, { text: "Done." }],
  FAILING: [{ tool_calls: [shell("fail now")] }, { text: "Done." }],
  REFUSING: [{ tool_calls: [shell("refuse now")] }, { text: "Done." }],
  CRASHING: [{ tool_calls: [shell("crash now")] }, { text: "Done." }],
  FINISH: [
    {
      tool_calls: [shell("before"), { name: "finish", arguments: { message: "All done." } }, shell("after")],
    },
  ],
  LOOPING: Array.from({ length: 9 }, (_, n) => ({ tool_calls: [shell(`step ${n}`)] })),
  STUCK: Array.from({ length: 9 }, () => ({ tool_calls: [shell("again")] })),
  REFUSED: [{ error: { status: 401, message: "bad key llm-key" } }],
};

const script: Script = {
  turns: [
    ...Object.entries(answers).flatMap(([name, turns]) =>
      turns.map((turn): ScriptTurn => ({ ...turn, match: { last_user_contains: `CASE:${name}` } })),
    ),
    // It goes on after it was told that it repeats itself.
    ...answers["STUCK"]!.map((turn) => ({
      ...turn,
      match: { last_user_contains: "going in circles" },
    })),
  ],
  unique_ids: true,
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ script });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Everything after the user's message, without bookkeeping. */
async function logOf(id: string): Promise<Event[]> {
  const log = await Array.fromAsync(server.client.events(id));
  return log
    .filter((event) => event.kind !== "SystemPromptEvent" && event.kind !== "ConversationStateUpdateEvent")
    .slice(1);
}

function inShort(event: Event): string {
  switch (event.kind) {
    case "MessageEvent":
      return `${event.source}: ${(event.llm_message.content ?? []).map((part) => ("text" in part ? part.text : "")).join("")}`;
    case "ActionEvent":
      return `${event.action === undefined || event.action === null ? "cannot run" : "run"} ${event.tool_name}`;
    case "ObservationEvent":
      return `result of ${event.tool_name}`;
    case "AgentErrorEvent":
      return `error of ${event.tool_name}`;
    case "ConversationErrorEvent":
      return `failed: ${event.code}`;
    default:
      return event.kind;
  }
}

const nudge = expect.stringMatching(/^environment: /);

test.each([
  ["CONTENT", "finished", ["agent: Just words."], []],
  ["EMPTY", "finished", ["agent: ", nudge, "run finish", "result of finish"], []],
  ["REASONING", "finished", ["agent: ", nudge, "run finish", "result of finish"], []],
  [
    "PARALLEL",
    "finished",
    [
      "run terminal",
      "run terminal",
      "run grep",
      "result of terminal",
      "result of terminal",
      "result of grep",
      "agent: Done.",
    ],
    ["a", "b", "c"],
  ],
  [
    "SAMEIDS",
    "finished",
    ["run terminal", "run terminal", "result of terminal", "result of terminal", "agent: Done."],
    ["first", "second"],
  ],
  [
    "MALFORMED",
    "finished",
    ["cannot run terminal", "error of terminal", "run terminal", "result of terminal", "agent: Done."],
    ["good"],
  ],
  ["MISSING", "finished", ["cannot run terminal", "error of terminal", "agent: Done."], []],
  ["WRONGTYPE", "finished", ["cannot run terminal", "error of terminal", "agent: Done."], []],
  ["UNKNOWN", "finished", ["cannot run teleport", "error of teleport", "agent: Done."], []],
  ["FAILING", "finished", ["run terminal", "result of terminal", "agent: Done."], ["fail now"]],
  ["REFUSING", "finished", ["run terminal", "error of terminal", "agent: Done."], ["refuse now"]],
  ["CRASHING", "finished", ["run terminal", "error of terminal", "agent: Done."], ["crash now"]],
  [
    "FINISH",
    "finished",
    [
      "run terminal",
      "run finish",
      "cannot run terminal",
      "error of terminal",
      "result of terminal",
      "result of finish",
    ],
    ["before"],
  ],
  ["REFUSED", "error", [expect.stringMatching(/^failed: /)], []],
])(
  "P6: a model's answer of kind %s ends %s, each call with one answer",
  async (name, status, expected, started) => {
    const before = server.quickTools.started.length;
    const id = await server.runTo(status, `CASE:${name}`);
    const log = await logOf(id);
    expect(log.map(inShort)).toEqual(expected);
    expect(server.quickTools.started.slice(before)).toEqual(started);
    const actions = log.filter((event) => event.kind === "ActionEvent");
    const results = log.filter((event) => ["ObservationEvent", "AgentErrorEvent"].includes(event.kind));
    expect(results).toHaveLength(actions.length);
  },
);

test("the error of a bad call names the fix and not the values", async () => {
  const id = await server.runTo("finished", "CASE:UNKNOWN");
  const error = (await logOf(id)).find((event) => event.kind === "AgentErrorEvent");
  expect(error).toMatchObject({ error: expect.stringContaining("terminal") });
  expect(JSON.stringify(error)).not.toContain("Mars");
});

test("the key of the model is in no error that the provider echoes", async () => {
  const id = await server.runTo("error", "CASE:REFUSED");
  expect(JSON.stringify(await logOf(id))).not.toContain("llm-key");
});

test("max_iterations ends the run with MaxIterationsReached; run resumes from there", async () => {
  const id = await server.runTo("error", "CASE:LOOPING", { max_iterations: 3 });
  const log = await logOf(id);
  expect(log.at(-1)).toMatchObject({ kind: "ConversationErrorEvent", code: "MaxIterationsReached" });
  expect(log.filter((event) => event.kind === "ActionEvent")).toHaveLength(3);
  await server.client.run(id);
  await server.waitForStatus(id, "error");
  expect((await logOf(id)).filter((event) => event.kind === "ActionEvent")).toHaveLength(6);
});

test("L23.29: an agent that repeats itself gets a hint, then is stopped as stuck, unless the detection is off", async () => {
  const id = await server.runTo("stuck", "CASE:STUCK");
  const log = await logOf(id);
  expect(log.filter((event) => event.kind === "ActionEvent")).toHaveLength(6);
  expect(log.filter(({ kind, source }) => kind === "MessageEvent" && source === "environment")).toHaveLength(
    1,
  );
  await server.runTo("finished", "CASE:STUCK", { stuck_detection: false });
});

test("a message while a tool runs is stored at once and seen by the next call of the model", async () => {
  await using busy = await startTestServer({
    script: { turns: [{ tool_calls: [shell("hold on")] }, { text: "I saw it." }] },
  });
  const { id } = await busy.createConversation({ text: "go" });
  while (busy.quickTools.started.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  await busy.client.sendMessage(id, { content: [{ type: "text", text: "also this" }], run: true });
  busy.quickTools.release();
  await busy.waitForStatus(id, "finished");
  expect(busy.model.requests).toHaveLength(2);
  expect(busy.model.requests[1]!.text).toContain("also this");
});
