import { noCallListener } from "./observe-requests.ts";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { WebSocket } from "ws";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { conversationClosing, OwnedElsewhere } from "../engine/refusals.ts";
import { DamagedEventError, JournalWriteError, LeaseLostError } from "../journal/journal.ts";
import { DatabaseUnavailableError } from "../lib/database-unavailable.ts";
import { Fault } from "../lib/fault.ts";
import type { Logger } from "../lib/logger.ts";
import { startTestServer, type TestServer } from "../testing/start-server.ts";
import { SealError } from "../security/seal.ts";
import { toErrorReply } from "./errors.ts";
import { createGuard } from "./guard.ts";
import { openHttp } from "./open-http.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const post = (body: string | undefined, contentType?: string, path = "/api/conversations") =>
  fetch(`${server.url}${path}`, {
    method: "POST",
    headers: {
      "X-Session-API-Key": server.key,
      ...(contentType === undefined ? {} : { "Content-Type": contentType }),
    },
    ...(body === undefined ? {} : { body }),
  });

test.each([
  ["GET", "/nowhere"],
  ["POST", "/api/conversations/x/y/z"],
  ["GET", "/api/"],
  ["GET", "/../etc/passwd"],
  ["GET", "/api/conversations/../../etc/passwd"],
])("%s %s is a 404", async (method, path) => {
  const reply = await server.call(method, path);
  expect(reply.status).toBe(404);
  expect(reply.json).toMatchObject({ detail: "Not Found" });
});

test.each([
  ["PUT", "/api/conversations", "GET, HEAD, POST"],
  ["DELETE", "/alive", "GET, HEAD"],
  ["GET", "/api/conversations/00000000-0000-4000-8000-000000000000/run", "POST"],
  ["PATCH", "/api/conversations/x/events/", "GET, HEAD, POST"],
])("%s %s is a 405 that names what works", async (method, path, allow) => {
  const reply = await server.call(method, path);
  expect(reply.status).toBe(405);
  expect(reply.json).toMatchObject({ detail: "Method Not Allowed" });
  expect(reply.headers.get("allow")).toBe(allow);
});

test.each([
  ["half", '{"agent":'],
  ["plain text", "hello"],
  ["NaN", '{"max_iterations":NaN}'],
])("a JSON body that is %s is a 422 for the body", async (_what, body) => {
  const reply = await post(body, "application/json");
  expect(reply.status).toBe(422);
  expect(await reply.json()).toMatchObject({ detail: [{ loc: ["body"], type: "json_invalid" }] });
});

test.each([
  ["an empty body", ""],
  ["null", "null"],
  ["a list", "[]"],
  ["text", '"x"'],
])("a JSON body that is %s is a 422", async (_what, body) => {
  const reply = await post(body, "application/json");
  expect(reply.status).toBe(422);
  expect(await reply.json()).toMatchObject({ detail: [{ loc: ["body"] }] });
});

test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "nonsense"])(
  "a body of type %s is a 415 that says what to send",
  async (type) => {
    const reply = await post("{}", type);
    expect(reply.status).toBe(415);
    expect(await reply.json()).toMatchObject({
      code: "wrong_media_type",
      detail: expect.stringContaining("application/json"),
    });
  },
);

test("clients that announce JSON on requests without a body are served", async () => {
  const { id } = await server.createConversation();
  for (const [method, path] of [
    ["GET", ""],
    ["POST", "/pause"],
    ["POST", "/run"],
    ["GET", "/events/search"],
    ["DELETE", ""],
  ] as const) {
    const reply = await server.call(method, `/api/conversations/${id}${path}`, undefined, {
      "Content-Type": "application/json",
    });
    expect(reply.status, `${method} ${path}: ${reply.text}`).toBe(200);
  }
});

test("P29: a body above the limit is a 413 that names the limit, before it is read", async () => {
  const body = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)) });
  const init = {
    method: "POST",
    body,
    duplex: "half",
    headers: { "X-Session-API-Key": server.key, "Content-Type": "application/json" },
  };
  const reply = await fetch(`${server.url}/api/conversations`, init);
  expect(reply.status).toBe(413);
  expect(await reply.json()).toMatchObject({
    code: "body_too_large",
    detail: expect.stringContaining("64 MiB"),
  });
});

test.each([
  ["/api/settings", 405, "method_not_allowed"],
  ["/nowhere", 404, "not_found"],
])("OPTIONS %s is answered like any other method, unless it is a preflight", async (path, status, code) => {
  const reply = await server.call("OPTIONS", path);
  expect(reply).toMatchObject({ status, json: { code } });
  // Pages' preflights, and what some checkers send for one.
  expect((await server.call("OPTIONS", path, undefined, { Origin: server.url })).status).toBe(204);
  const preflight = { Origin: server.url, "Access-Control-Request-Method": "POST" };
  expect((await server.call("OPTIONS", path, undefined, preflight)).status).toBe(204);
});

test.each([
  ["with an endless head", `GET /alive HTTP/1.1\r\nX: ${"x".repeat(40_000)}\r\n\r\n`, 431, "head_too_large"],
  ["that is no HTTP", "Hello?\r\n\r\n", 400, "bad_request"],
])("a request %s is refused in our shape", async (_what, text, status, code) => {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(server.url).port) });
  socket.write(text);
  const answer = (await socket.setEncoding("utf8").toArray()).join("");
  const [head, body] = answer.split("\r\n\r\n") as [string, string];
  expect(head).toContain(`HTTP/1.1 ${status} `);
  expect(JSON.parse(body)).toEqual({ detail: expect.stringMatching(/\.$/), code });
});

test("a socket handshake at a REST route is refused, and becomes no socket", async () => {
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/health`);
  socket.on("error", () => {});
  const refused = new Promise((resolve) =>
    socket.once("unexpected-response", (_, { statusCode }) => resolve(statusCode)),
  );
  expect(await refused).toBe(400);
});

test("an address with an endless part is a 414 in our shape", async () => {
  const reply = await server.call("GET", `/api/conversations/${"a".repeat(600)}`);
  expect(reply.status).toBe(414);
  expect(reply.json).toMatchObject({ code: "address_too_long", detail: expect.stringMatching(/\.$/) });
});

test("an address that cannot be decoded is a 400 in our shape", async () => {
  const reply = await server.call("GET", "/api/conversations/%ZZ");
  expect(reply.status).toBe(400);
  expect(reply.json).toMatchObject({ code: "bad_url", detail: expect.stringMatching(/\.$/) });
});

describe("failures of ours", () => {
  const lines: { fields: object; message: string }[] = [];
  const log = (fields: object, message: string): void => void lines.push({ fields, message });
  const logger: Logger = { info: log, warn: log, error: log };

  test("P53: an unexpected error is a 500 with an id that the log has too, and shows nothing of its text", async () => {
    const guard = createGuard({ boundHost: "127.0.0.1", allowedHosts: [], allowedOrigins: [] });
    const app = await openHttp({ guard, logger, calls: noCallListener });
    app.get("/breaks", () => {
      throw new Error("secret detail");
    });
    const reply = await app.inject({ url: "/breaks", headers: { host: "localhost" } });
    await app.close();
    const body = reply.json<{ error_id: string }>();
    expect(reply.statusCode).toBe(500);
    expect(body).toMatchObject({
      detail: "Internal Server Error",
      exception: expect.stringContaining(body.error_id),
    });
    expect(body.error_id).toMatch(/^[0-9a-f]{32}$/);
    expect(reply.body).not.toContain("secret detail");
    expect(lines.at(-1)).toMatchObject({
      message: "request failed",
      fields: { errorId: body.error_id, error: expect.stringContaining("secret detail") },
    });
  });

  test.each([
    [new JournalWriteError("disk full"), 503, "storage_failed"],
    [new JournalWriteError("no", { path: "/d/journal.db", errcode: 13 }), 503, "storage_failed"],
    [new JournalWriteError("no", { path: "/d/journal.db", errcode: 11 }), 503, "storage_damaged"],
    [Object.assign(new Error("no space"), { code: "ENOSPC", path: "/d/x" }), 503, "storage_failed"],
    [Object.assign(new Error("no handles"), { code: "EMFILE" }), 503, "too_many_open_files"],
    [new SealError("F14: another key"), 503, "secrets_unreadable"],
    [new JournalWriteError("no", { cause: new DatabaseUnavailableError("no") }), 503, "database_away"],
    [new LeaseLostError("lost"), 503, "owned_elsewhere"],
    [new DamagedEventError("c", 7), 500, "event_damaged"],
    [new Fault("not-now", "server_closing", "Later."), 503, "server_closing"],
    ["thrown text", 500, "internal_error"],
  ])("P53: %s has a status, a stable code and a sentence", (error, status, code) => {
    const reply = toErrorReply(error, logger);
    expect(reply.status).toBe(status);
    expect(reply.body).toMatchObject({ code, detail: expect.stringMatching(/\w/) });
  });

  test("P53: only transient failures have a Retry-After", () => {
    const headersOf = (error: unknown): object | undefined => toErrorReply(error, logger).headers;
    expect(headersOf(new DatabaseUnavailableError("no"))).toEqual({ "retry-after": "2" });
    expect(headersOf(new OwnedElsewhere(null))).toEqual({ "retry-after": "2" });
    expect(headersOf(conversationClosing())).toEqual({ "retry-after": "1" });
    expect(headersOf(new SealError("F14: another key"))).toBeUndefined();
    expect(headersOf(new Error("a bug"))).toBeUndefined();
  });

  test("a stream that fails before its first byte is an error like any other", async () => {
    const guard = createGuard({ boundHost: "127.0.0.1", allowedHosts: [], allowedOrigins: [] });
    const app = await openHttp({ guard, logger, calls: noCallListener });
    app.get("/api/cut", (_request, reply) => {
      void reply
        .headers({ "content-disposition": "attachment", "content-length": 3 })
        .type("application/zip")
        .send(new Readable({ read: () => {} }).destroy(new Error("cut")));
    });
    const reply = await app.inject({ url: "/api/cut", headers: { host: "localhost" } });
    expect(reply.statusCode).toBe(500);
    expect(reply.json()).toMatchObject({ detail: "Internal Server Error", code: "internal_error" });
    expect(reply.headers).toMatchObject({ "content-type": "application/json; charset=utf-8" });
    expect(reply.headers).not.toHaveProperty("content-disposition");
    await app.close();
  });
});
