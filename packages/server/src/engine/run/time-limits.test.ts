import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { until } from "../../testing/until.ts";
import type { ConversationConfig } from "../conversation-config.ts";
import { initialState } from "../state/conversation-state.ts";
import { timeLimitOf } from "./time-limits.ts";

const again = { content: [{ type: "text" as const, text: "Once more." }], run: true };
const slow = {
  match: { last_user_contains: "Tell me." },
  text: "word ".repeat(10_000),
  chunk_size: 40,
  chunk_delay_ms: 25,
};
const quick = { match: { last_user_contains: "Once more." }, text: "Quick." };

async function errorsOf(server: TestServer, id: string): Promise<unknown[]> {
  return (await server.events(id)).filter((event) => event.kind === "ConversationErrorEvent");
}

test("the limit that comes first counts, and none while nothing runs", () => {
  const running = { ...initialState(), status: "running" as const, runStartMs: 1_000_000, workedMs: 50_000 };
  const limitOf = (config: Partial<ConversationConfig>, state = running): number | undefined =>
    timeLimitOf(state, config as ConversationConfig)?.deadlineMs;
  expect(limitOf({})).toBeUndefined();
  expect(limitOf({ max_run_seconds: 60 })).toBe(1_060_000);
  expect(limitOf({ max_run_seconds: 60, max_conversation_seconds: 100 })).toBe(1_050_000);
  expect(limitOf({ max_run_seconds: 60 }, { ...running, status: "paused" as never })).toBeUndefined();
});

/** Resolves once words of an answer have arrived. */
async function untilWords(server: TestServer, id: string): Promise<void> {
  const url = `${server.url.replace("http", "ws")}/sockets/events/${id}?session_api_key=${server.key}`;
  const socket = new WebSocket(url);
  let hasWords = false;
  socket.addEventListener("message", ({ data }) => {
    hasWords ||= String(data).includes("word word");
  });
  await until(() => hasWords);
  socket.close();
}

/** Too short for the run that is on. */
const over = { max_run_seconds: 0.001 };

test("a run ends at its time limit in the midst of an answer, whose words stay, and another run has its own time", async () => {
  await using server = await startTestServer({ script: { turns: [slow, quick] } });
  const { agent } = server.startRequest();
  const { id } = await server.createConversation({
    text: "Tell me.",
    max_run_seconds: 600,
    agent: { ...agent, llm: { ...agent.llm, stream: true } },
  });
  await untilWords(server, id);
  await server.call("POST", `/api/conversations/${id}/limits`, over);
  await server.waitForStatus(id, "error");
  expect(await errorsOf(server, id)).toMatchObject([
    { code: "MaxRunTimeReached", detail: expect.stringContaining("max_run_seconds (0.001)") as string },
  ]);
  const answer = (await server.events(id)).find(
    ({ kind, source }) => kind === "MessageEvent" && source === "agent",
  );
  expect(JSON.stringify(answer)).toContain("word word");
  expect((await server.call("GET", `/api/conversations/${id}`)).json).toMatchObject(over);
  await server.call("POST", `/api/conversations/${id}/limits`, { max_run_seconds: 60 });
  await server.client.sendMessage(id, again);
  await server.waitForStatus(id, "finished");
});

test("a tool that works when the time is over is ended, and its call gets an answer that says so", async () => {
  const call = { tool_calls: [{ name: "terminal", arguments: { command: "hold this" } }] };
  await using server = await startTestServer({ script: { turns: [call] } });
  const { id } = await server.createConversation({ text: "Wait." });
  await until(() => server.quickTools.started.length === 1);
  await server.call("POST", `/api/conversations/${id}/limits`, over);
  await server.waitForStatus(id, "error");
  const answers = (await server.events(id)).filter(({ kind }) => kind === "AgentErrorEvent");
  expect(answers).toMatchObject([{ error: expect.stringContaining("time limit of the run") as string }]);
});

test("the limit of a conversation counts all its runs, over a restart, until it is raised", async () => {
  await using server = await startTestServer({ script: { turns: [slow, quick] } });
  const { id } = await server.createConversation({ text: "Tell me." });
  await until(() => server.model.requests.length === 1);
  await server.call("POST", `/api/conversations/${id}/limits`, { max_conversation_seconds: 0.001 });
  await server.waitForStatus(id, "error");
  await server.restart();
  await server.client.sendMessage(id, again);
  await server.waitForStatus(id, "error");
  // No time is left: the model is not called.
  expect(server.model.requests).toHaveLength(1);
  expect(await errorsOf(server, id)).toHaveLength(2);
  await server.call("POST", `/api/conversations/${id}/limits`, { max_conversation_seconds: 60 });
  await server.client.run(id);
  await server.waitForStatus(id, "finished");
});

test("a run that goes on after a restart has the time that it had before", async () => {
  await using server = await startTestServer({ script: { turns: [slow, slow] } });
  const { id } = await server.createConversation({ text: "Tell me.", max_run_seconds: 4 });
  await until(() => server.model.requests.length === 1);
  await server.restart();
  await server.waitForStatus(id, "error");
  expect(await errorsOf(server, id)).toMatchObject([{ code: "MaxRunTimeReached" }]);
});

test("what is no time limit is refused by its name", async () => {
  await using server = await startTestServer();
  for (const value of [0, -1, "soon", 1e9]) {
    const body = { ...server.startRequest(), max_run_seconds: value };
    const { status, text } = await server.call("POST", "/api/conversations", body);
    expect(status).toBe(422);
    expect(text).toContain("max_run_seconds");
  }
});
