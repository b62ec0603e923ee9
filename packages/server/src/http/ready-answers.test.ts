import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { FastifyInstance } from "fastify";
import { silentLogger } from "../lib/logger.ts";
import { until } from "../testing/until.ts";
import type { Caller } from "../security/caller.ts";
import { createGuard } from "./guard.ts";
import type { AuditedCall } from "./observe-requests.ts";
import { openHttp } from "./open-http.ts";
import type { Again } from "./ready-answers.ts";

const users: Record<string, Caller> = { one: { userId: "ada", keyId: "k1" }, two: { userId: "bob" } };
let [page, known]: [Uint8Array | null, Record<string, Caller>] = [null, users];
let wholeWays = 0;
let calls: AuditedCall[] = [];
let app: FastifyInstance;

beforeEach(async () => {
  [page, known, wholeWays, calls] = [Buffer.from('{"items":[]}'), users, 0, []];
  const guard = createGuard({ boundHost: "127.0.0.1", allowedHosts: [], allowedOrigins: [] });
  app = await openHttp({
    guard,
    logger: silentLogger,
    calls: { active: () => {}, ended: (call) => calls.push(call) },
  });
  const whose = (key: unknown): Caller | null => known[String(key)] ?? null;
  app.get("/pages/:name", (request, reply) => {
    wholeWays += 1;
    request.caller = whose(request.headers["x-session-api-key"]);
    if (request.caller?.userId !== "ada") return reply.status(request.caller === null ? 401 : 404).send();
    const again: Again = (caller) => {
      if (page === null) throw new Error("The store is unavailable.");
      return caller.userId === "ada" ? page : null;
    };
    const bytes = page ?? Buffer.from("{}");
    request.repeatable = { bytes, again };
    return reply.headers({ etag: '"x"', "content-type": "application/json" }).send(bytes);
  });
  app.readyAnswers.open((headers) => whose(headers["x-session-api-key"]));
  await app.listen({ host: "127.0.0.1", port: 0 });
});
afterEach(() => app.close());

async function ask(headers: Record<string, string> = {}, path = "/pages/1?limit=2", method = "GET") {
  const { port } = app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}${path}`;
  const reply = await fetch(url, { method, headers: { "x-session-api-key": "one", ...headers } });
  const text = await reply.text();
  // Told behind the last byte.
  await until(() => calls.some(({ requestId }) => requestId === reply.headers.get("x-request-id")));
  return { status: reply.status, text, headers: new Map(reply.headers) };
}

test("a repeated request is answered and recorded as before, without routing", async () => {
  const [first, again] = [await ask(), await ask()];
  expect(wholeWays).toBe(1);
  for (const { headers } of [first, again]) for (const name of ["x-request-id", "date"]) headers.delete(name);
  expect(again).toEqual(first);
  expect(again.headers.get("x-content-type-options")).toBe("nosniff");
  const [firstCall, secondCall] = calls;
  expect(secondCall).toEqual({
    ...firstCall,
    requestId: expect.not.stringMatching(firstCall!.requestId) as string,
  });
  expect(secondCall).toMatchObject({
    user: "ada",
    keyId: "k1",
    route: "/pages/:name",
    target: { name: "1" },
  });
});

test("P3: wrong keys, other users, foreign pages and names of other servers are still refused", async () => {
  await ask();
  known = { two: users["two"]! };
  expect((await ask()).status).toBe(401);
  expect((await ask({ "x-session-api-key": "two" })).status).toBe(404);
  known = users;
  expect((await ask({ origin: "https://evil.example" })).status).toBe(403);
  expect((await ask({ "sec-fetch-site": "cross-site" })).status).toBe(200);
  expect(wholeWays).toBe(4);
  expect(calls.map(({ status }) => status)).toEqual([200, 401, 404, 403, 200]);
});

test.each<[string, Record<string, string>, string, string]>([
  ["with a condition", { "if-none-match": '"y"' }, "/pages/1?limit=2", "GET"],
  ["with a cookie", { cookie: "a=b" }, "/pages/1?limit=2", "GET"],
  ["of another node", { "x-convoke-node": "x" }, "/pages/1?limit=2", "GET"],
  ["in other words", {}, "/pages/1?limit=02", "GET"],
  ["for the head alone", {}, "/pages/1?limit=2", "HEAD"],
])("a request %s goes the whole way", async (_, headers, path, method) => {
  await ask();
  expect((await ask(headers, path, method)).status).toBe(200);
  expect(wholeWays).toBe(2);
});

test("an answer that was sent while the page changed is not cached for the new page", async () => {
  const next = Buffer.from('{"items":["a longer one"]}');
  app.server.prependOnceListener("request", (_, response) => response.once("finish", () => (page = next)));
  expect((await ask()).text).toBe('{"items":[]}');
  expect([(await ask()).text, wholeWays]).toEqual([next.toString(), 2]);
});

test("requests whose cached bytes are outdated or missing are handled in full", async () => {
  await ask();
  page = Buffer.from('{"items":[1]}');
  expect([(await ask()).text, (await ask()).text, wholeWays]).toEqual(['{"items":[1]}', '{"items":[1]}', 2]);
  page = null;
  expect([(await ask()).text, wholeWays]).toEqual(["{}", 3]);
});
