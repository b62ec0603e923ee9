import { expect, test } from "vitest";
import { holdAnswers } from "../testing/hold-answers.ts";
import { startTestServer, type TestServer } from "../testing/start-server.ts";
import { TestSocket } from "../testing/test-socket.ts";

/** Another server on the same data. */
async function startOtherNode(server: TestServer): Promise<TestServer> {
  return await startTestServer({
    config: { dataDir: server.dataDir, workspaceRoot: server.workspaceDir },
  });
}

function watch(server: TestServer, id: string, query = ""): TestSocket {
  const headers = { "x-session-api-key": server.key };
  return new TestSocket(`${server.url}/sockets/events/${id}${query}`, { headers });
}

function hasStatus(status: string): (events: Record<string, unknown>[]) => boolean {
  return (events) => events.some(({ key, value }) => key === "execution_status" && value === status);
}

function isFullState(frame: string): boolean {
  return (JSON.parse(frame) as { key?: string }).key === "full_state";
}

const say = (text: string) => ({ content: [{ type: "text" as const, text }], run: true });

test("P63, F11: a server that does not own a conversation serves its socket, history and live, and no lease is taken", async () => {
  const { wrapModel, release } = holdAnswers();
  const script = { turns: [{ text: "One." }, { text: "Two." }] };
  await using owner = await startTestServer({ script, wrapModel });
  await using otherNode = await startOtherNode(owner);
  const { id } = await owner.createConversation({ text: "begin" });
  await owner.waitForStatus(id, "running");
  using socket = watch(otherNode, id, "?resend_mode=all");
  await socket.until((events) => events.some(({ kind }) => kind === "MessageEvent"));
  expect(socket.events[0]).toMatchObject({ key: "full_state", value: { execution_status: "running" } });
  release();
  await socket.until(hasStatus("finished"));
  await owner.client.sendMessage(id, say("again"));
  await socket.until((events) => events.filter(({ kind }) => kind === "MessageEvent").length === 4);
  await owner.waitForStatus(id, "finished");
  const log = await owner.eventTexts(id);
  await socket.untilCount(log.length + 1);
  expect(socket.frames.filter((frame) => !isFullState(frame))).toEqual(log);
  expect(otherNode.log.filter(({ level }) => level === "error")).toEqual([]);
});

test("P63: following loads nothing: a conversation that another node only reads is still anybody's to work with", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Hello." }] } });
  await using otherNode = await startOtherNode(server);
  const { id } = await server.createConversation();
  using here = watch(server, id);
  using there = watch(otherNode, id);
  await Promise.all([here.untilCount(1), there.untilCount(1)]);
  await server.client.sendMessage(id, say("hi"));
  await Promise.all([here.until(hasStatus("finished")), there.until(hasStatus("finished"))]);
});

test("P63: a socket stays while the conversation moves: its owner ends, and the server of the socket resumes it", async () => {
  await using owner = await startTestServer({ script: { turns: [] } });
  await using otherNode = await startTestServer({
    script: { turns: [{ text: "One." }, { text: "Two." }] },
    config: { dataDir: owner.dataDir, workspaceRoot: owner.workspaceDir },
  });
  const { agent } = otherNode.startRequest();
  const id = await owner.runTo("finished", "first", {
    agent: { ...agent, llm: { ...agent.llm, stream: true } },
  });
  using socket = watch(otherNode, id);
  await socket.untilCount(1);
  await owner.close();
  await otherNode.client.sendMessage(id, say("second"));
  await socket.until(hasStatus("finished"));
  expect(socket.events.some(({ kind }) => kind === "StreamingDeltaEvent")).toBe(true);
  expect(socket.socket.readyState).toBe(socket.socket.OPEN);
});

test("P63: a conversation that its owner deletes closes the sockets of other servers with 4004", async () => {
  await using owner = await startTestServer({ script: { turns: [{ text: "Hello." }] } });
  await using otherNode = await startOtherNode(owner);
  const id = await owner.runTo("finished", "hi");
  using socket = watch(otherNode, id);
  await socket.untilCount(1);
  await owner.client.deleteConversation(id);
  expect(await socket.closed).toMatchObject({ code: 4004 });
});

test("P63: so does one in which nothing has happened yet", async () => {
  await using owner = await startTestServer({ script: { turns: [] } });
  await using otherNode = await startOtherNode(owner);
  const { id } = await owner.createConversation();
  expect(await owner.events(id)).toEqual([]);
  using socket = watch(otherNode, id);
  await socket.untilCount(1);
  await owner.client.deleteConversation(id);
  expect(await socket.closed).toMatchObject({ code: 4004 });
});
