import { stat } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { openKeyStore } from "../../settings/open-stores.ts";
import { readAudit } from "../../testing/read-audit.ts";
import { MemorySandboxes } from "../../testing/memory-sandboxes.ts";
import { startTestServer } from "../../testing/start-server.ts";
import { TestSocket } from "../../testing/test-socket.ts";

test("P54: calls of every user and every refusal are lines: who, from where, what, which object, how it ended", async () => {
  await using server = await startTestServer({});
  const { id } = await server.createConversation();
  await using keys = await openKeyStore(server.dataDir);
  const {
    key,
    entry: { id: keyId },
  } = await keys.store.create("bob", "");
  const path = `/api/conversations/${id}`;
  const found = await server.call("GET", path);
  await server.call("GET", path, undefined, { "X-Session-API-Key": key });
  await server.call("GET", path, undefined, { "X-Session-API-Key": "wrong" });
  await server.call("GET", path, undefined, { Origin: "https://evil.example" });
  await server.call("POST", `${path}/events`, { role: 7 });
  // Whose answer needs no key.
  await server.call("GET", "/alive");
  await server.close();
  const { calls, refusals } = await readAudit(server.dataDir);
  const route = "/api/conversations/:conversation_id";
  const own = { user: "local", keyId: null, loginId: null, means: null, peer: "127.0.0.1" };
  const [created, read, ofBob, invalid, ...others] = calls;
  expect(created).toMatchObject({ ...own, method: "POST", route: "/api/conversations", status: 201 });
  expect(read).toEqual({
    ...own,
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
    requestId: found.headers.get("x-request-id"),
    method: "GET",
    route,
    target: { conversation_id: id },
    status: 200,
    n: 2,
    h: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  });
  expect(ofBob).toMatchObject({ user: "bob", keyId, route, target: { conversation_id: id }, status: 404 });
  expect(invalid).toMatchObject({ ...own, method: "POST", route: `${route}/events`, status: 422 });
  expect(others).toEqual([]);
  const stranger = { user: null, keyId: null, route, target: { conversation_id: id } };
  expect(refusals).toMatchObject([
    { ...stranger, status: 401 },
    { ...stranger, status: 403 },
  ]);
  for (const name of ["calls.jsonl", "refusals.jsonl"]) {
    expect((await stat(join(server.dataDir, "audit", name))).mode & 0o777).toBe(0o600);
  }
  expect((await stat(join(server.dataDir, "audit"))).mode & 0o777).toBe(0o700);
});

test("P54: sockets are lines when they are let in, when they are refused, and when their first frame is wrong", async () => {
  await using server = await startTestServer({});
  const { id } = await server.createConversation();
  const socket = async (path: string, headers: Record<string, string>, frame?: object): Promise<void> => {
    using opened = new TestSocket(`${server.url}${path}`, { headers });
    if ((await opened.opened) !== "open") return;
    if (frame !== undefined) opened.send(frame);
    await Promise.race([opened.untilCount(1), opened.closed]);
  };
  const own = { "X-Session-API-Key": server.key };
  await socket(`/sockets/events/${id}`, own);
  await socket(`/sockets/events/${id}`, {}, { type: "auth", session_api_key: server.key });
  await socket(`/sockets/events/${id}`, {}, { type: "auth", session_api_key: "wrong" });
  await socket(`/sockets/events/${id}`, { "X-Session-API-Key": "wrong" });
  await socket("/sockets/bash-events?resend_mode=all", { "X-Session-API-Key": "wrong" });
  await server.close();
  const { calls, refusals } = await readAudit(server.dataDir);
  const events = { route: "/sockets/events/:conversationId", target: { conversationId: id } };
  expect(calls.slice(1)).toMatchObject([
    { ...events, user: "local", status: 101 },
    { ...events, user: "local", status: 101 },
  ]);
  expect(refusals).toMatchObject([
    { ...events, status: 401 },
    { ...events, status: 403 },
    { route: "/sockets/bash-events", target: {}, status: 403 },
  ]);
});

test("P54: calls to a sandbox are logged, whichever key authenticates them; a wrong key is logged as a refusal although the answer is a 404", async () => {
  const sandboxes = new MemorySandboxes();
  const { id } = await sandboxes.start("local", "first");
  const asked = Promise.withResolvers<void>();
  sandboxes.openPort = async () => {
    asked.resolve();
    return new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  };
  await using server = await startTestServer({ openSandboxes: async () => sandboxes });
  await using keys = await openKeyStore(server.dataDir);
  const { key } = await keys.store.create("bob", "");
  const gate = `/sandboxes/${id}`;
  const ofSandbox = { "X-Session-API-Key": sandboxes.sessionKey(id)! };
  await server.call("GET", `${gate}/api/conversations/count`);
  await server.call("GET", `${gate}/api/conversations/count`, undefined, ofSandbox);
  await server.call("GET", `${gate}/api/conversations/count`, undefined, { "X-Session-API-Key": key });
  await server.call("GET", `${gate}/ports/3000/a`, undefined, { "X-Session-API-Key": "wrong" });
  await server.call("GET", `${gate}~wrong-port-key/ports/3000/a`);
  // Nobody answers at the port, and the client does not wait for it.
  const leaving = request(`${server.url}${gate}~${sandboxes.portKey(id)}/ports/3000/a?b=c`);
  leaving.on("error", () => {}).end();
  await asked.promise;
  leaving.destroy();
  await server.close();
  const { calls, refusals } = await readAudit(server.dataDir);
  const counted = { route: "/sandboxes/:sandbox_id/api/conversations/count", target: { sandbox_id: id } };
  const port = { route: "/sandboxes/:sandbox_id/ports/:port/*", target: { sandbox_id: id, port: "3000" } };
  expect(calls).toMatchObject([
    { ...counted, user: "local", means: null, status: 200 },
    { ...counted, user: "local", means: "sandbox key", status: 200 },
    { ...counted, user: "bob", status: 404 },
    { ...port, user: "local", means: "port key", status: 499 },
  ]);
  expect(refusals).toMatchObject([
    { ...port, status: 401 },
    { ...port, status: 404 },
  ]);
  const text = JSON.stringify([calls, refusals, server.log]);
  for (const hidden of [
    sandboxes.sessionKey(id)!,
    sandboxes.portKey(id)!,
    "wrong-port-key",
    key,
    server.key,
  ]) {
    expect(text).not.toContain(hidden);
  }
});

test("P32: no key gets into the access log or the audit log, however it comes, right or wrong", async () => {
  await using server = await startTestServer({});
  const { id } = await server.createConversation();
  const canary = "canary-wrong-key";
  for (const key of [server.key, canary]) {
    const query = `session_api_key=${key}&api_key=${key}`;
    using inAddress = new TestSocket(`${server.url}/sockets/events/${id}?${query}`);
    if ((await inAddress.opened) === "open") await inAddress.untilCount(1);
    for (const path of [
      `/api/conversations/${id}`,
      "/api/tools/",
      "/nowhere",
      "/metrics",
      "/%ZZ",
      "/alive",
    ]) {
      await server.call("GET", `${path}?${query}`);
      await server.call("GET", `${path}?${query}`, undefined, { "X-Session-API-Key": key });
      await server.call("GET", path, undefined, { "X-Session-API-Key": "", Authorization: `Bearer ${key}` });
      await server.call("GET", path, undefined, { Origin: "https://evil.example", Cookie: `key=${key}` });
    }
  }
  await server.close();
  const { calls, refusals } = await readAudit(server.dataDir);
  expect([calls.length > 10, refusals.length > 10, server.log.length > 30]).toEqual([true, true, true]);
  const text = JSON.stringify([calls, refusals, server.log]);
  expect(text).toContain(id);
  for (const key of [server.key, canary]) expect(text).not.toContain(key);
});
