import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Cluster } from "./cluster.ts";
import { openLine } from "../testing/line.ts";
import { holdAnswers } from "../testing/hold-answers.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../testing/start-server.ts";
import { TestSocket } from "../testing/test-socket.ts";
import { Peers } from "./peers.ts";

/** Another server on the same data. */
async function startNode(owner: TestServer, options: TestServerOptions = {}): Promise<TestServer> {
  const config = { dataDir: owner.dataDir, workspaceRoot: owner.workspaceDir, ...options.config };
  return await startTestServer({ ...options, config });
}

const say = (text: string) => ({ content: [{ type: "text" as const, text }], run: true });

async function messagesOf(server: TestServer, id: string): Promise<string[]> {
  const events = await server.events(id);
  return events.flatMap((event) => {
    if (event.kind !== "MessageEvent" || event.llm_message.role !== "user") return [];
    return (event.llm_message.content ?? []).map((part) => (part.type === "text" ? part.text : ""));
  });
}

test("a command for a conversation of another node is carried out by its owner", async () => {
  const { wrapModel, release } = holdAnswers();
  await using owner = await startTestServer({
    script: { turns: [{ text: "One." }, { text: "Two." }] },
    wrapModel,
  });
  await using otherNode = await startNode(owner);
  const { id } = await owner.createConversation({ text: "first" });
  await owner.waitForStatus(id, "running");
  await otherNode.client.sendMessage(id, say("second"));
  expect(await messagesOf(otherNode, id)).toEqual(["first", "second"]);
  const { nodes } = (await owner.call("GET", "/api/nodes")).json as { nodes: Record<string, unknown>[] };
  const found = nodes.map(({ address, is_self: isSelf }) => ({ address, isSelf }));
  expect(found).toHaveLength(2);
  expect(found).toContainEqual({ address: owner.url, isSelf: true });
  expect(found).toContainEqual({ address: otherNode.url, isSelf: false });
  release();
  await otherNode.waitForStatus(id, "finished");
  expect(otherNode.model.requests).toEqual([]);
  await otherNode.client.updateConversation(id, { title: "Named by the other node" });
  expect((await owner.client.getConversation(id)).title).toBe("Named by the other node");
  await otherNode.client.deleteConversation(id);
  await expect(owner.client.getConversation(id)).rejects.toMatchObject({ status: 404 });
});

test("P48: a command that another node carries out is counted once, and there as forwarded", async () => {
  const { wrapModel, release } = holdAnswers();
  await using owner = await startTestServer({ script: { turns: [{ text: "One." }] }, wrapModel });
  await using otherNode = await startNode(owner);
  const { id } = await owner.createConversation({ text: "first" });
  await owner.waitForStatus(id, "running");
  await otherNode.client.updateConversation(id, { title: "Named by the other node" });
  const route = 'method="PATCH",route="/api/conversations/:conversation_id",status="200"';
  const countsOf = async (server: TestServer): Promise<readonly string[]> => {
    const { text } = await server.call("GET", "/metrics");
    return text.split("\n").filter((line) => line.includes(`_count{${route}}`));
  };
  const counted = (name: string): string => `convoke_${name}_duration_seconds_count{${route}} 1`;
  await expect.poll(() => countsOf(otherNode)).toEqual([counted("http_request")]);
  await expect.poll(() => countsOf(owner)).toEqual([counted("forwarded_request")]);
  release();
});

test("the owner's answers to a pause and to an invalid request are passed on unchanged", async () => {
  const { wrapModel, release } = holdAnswers();
  await using owner = await startTestServer({ script: { turns: [{ text: "One." }] }, wrapModel });
  await using otherNode = await startNode(owner);
  const { id } = await owner.createConversation({ text: "first" });
  await owner.waitForStatus(id, "running");
  const pausing = otherNode.client.pause(id);
  release();
  await pausing;
  const path = `/api/conversations/${id}/events/respond_to_confirmation`;
  const [here, there] = await Promise.all(
    [owner, otherNode].map((server) => server.call("POST", path, { accept: true })),
  );
  expect(there).toMatchObject({ status: here!.status, text: here!.text });
});

test("a message over a socket reaches the server that works on the conversation, once", async () => {
  const { wrapModel, release } = holdAnswers();
  await using owner = await startTestServer({
    script: { turns: [{ text: "One." }, { text: "Two." }] },
    wrapModel,
  });
  await using otherNode = await startNode(owner);
  const { id } = await owner.createConversation({ text: "first" });
  await owner.waitForStatus(id, "running");
  const headers = { "x-session-api-key": otherNode.key };
  using socket = new TestSocket(`${otherNode.url}/sockets/events/${id}?resend_mode=all`, { headers });
  await socket.untilCount(1);
  const message = { role: "user", content: "second", client_message_id: "m-1" };
  socket.send(message);
  socket.send(message);
  await socket.until((events) => events.filter(({ kind }) => kind === "Accepted").length === 2);
  const accepted = socket.events.filter(({ kind }) => kind === "Accepted");
  expect(new Set(accepted.map((frame) => frame["event_id"])).size).toBe(1);
  const stored = await owner.events(id);
  expect(stored.some((event) => event["id"] === accepted[0]!["event_id"])).toBe(true);
  release();
  await owner.waitForStatus(id, "finished");
  expect(await messagesOf(owner, id)).toEqual(["first", "second"]);
});

test("a wait for a living node that never answers ends", async () => {
  await using server = await startTestServer();
  await using silent = await openLine(0, Number(new URL(server.url).port));
  silent.set("drop");
  const nodeAddress = { url: `http://127.0.0.1:${silent.port}`, secret: "secret" };
  const cluster = {
    findAddress: async () => nodeAddress,
    nowMs: () => 0,
    nodeId: "here",
    ownSecret: "own",
  } as unknown as Cluster;
  const peers = new Peers({ cluster, times: { pollMs: 5, probeMs: 20 } });
  const call = { method: "GET", path: "/api/conversations", headers: {}, body: undefined };
  const asking = peers.ask("there", call, { userId: "me" }, new AbortController().signal);
  await expect(asking).rejects.toMatchObject({ name: "AbortError" });
});

test("only nodes on the folder can make a valid pass", async () => {
  await using owner = await startTestServer();
  const { id } = await owner.createConversation();
  const payload = Buffer.from(
    JSON.stringify({ to: "x", method: "GET", path: "/", atMs: Date.now(), caller: { userId: "local" } }),
  ).toString("base64url");
  for (const pass of ["", "x", `${payload}.${payload}`, `${payload}.`]) {
    const reply = await fetch(`${owner.url}/api/conversations/${id}`, {
      headers: { "x-convoke-node": pass },
    });
    expect(reply.status, pass).toBe(401);
  }
});

test("an owner without an address is reported, and a node that closes removes its address file", async () => {
  const { wrapModel, release } = holdAnswers();
  await using owner = await startTestServer({ script: { turns: [{ text: "One." }] }, wrapModel });
  await using otherNode = await startNode(owner);
  const { id } = await owner.createConversation({ text: "first" });
  await owner.waitForStatus(id, "running");
  const nodes = join(owner.dataDir, "nodes");
  const nodeAddresses = async (): Promise<string[]> =>
    (await readdir(nodes)).filter((name) => name.endsWith(".door"));
  expect(await nodeAddresses()).toHaveLength(2);
  await otherNode.close();
  const [nodeAddress] = await nodeAddresses();
  expect(await nodeAddresses()).toEqual([nodeAddress]);
  await using other = await startNode(owner);
  await rm(join(nodes, nodeAddress!));
  await expect(other.client.sendMessage(id, say("second"))).rejects.toMatchObject({
    status: 503,
    code: "owned_elsewhere",
  });
  release();
  await owner.waitForStatus(id, "finished");
});
