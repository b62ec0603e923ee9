import { noCallListener } from "./observe-requests.ts";
import { gunzipSync } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLogger } from "../lib/logger.ts";
import { createGuard } from "./guard.ts";
import { openHttp } from "./open-http.ts";

const long = JSON.stringify({ items: Array.from({ length: 1_000 }, (_, index) => `event ${index}`) });
const far = "192.0.2.7";

let app: FastifyInstance;
beforeAll(async () => {
  const guard = createGuard({ boundHost: "127.0.0.1", allowedHosts: [], allowedOrigins: [] });
  app = await openHttp({ guard, logger: silentLogger, calls: noCallListener });
  const json =
    (text: string) => (_request: unknown, reply: { type(type: string): { send(text: string): unknown } }) =>
      reply.type("application/json").send(text);
  app.get("/api/conversations/search", json(long));
  const page = Buffer.from(long);
  app.get("/api/conversations/page", (_request, reply) => reply.type("application/json").send(page));
  app.get("/api/conversations/short", json('{"items":[]}'));
  app.get("/api/conversations/text", async (_request, reply) => reply.type("text/plain").send(long));
  app.get("/api/settings", json(long));
});
afterAll(() => app.close());

const ask = (url: string, remoteAddress: string, encoding?: string) =>
  app.inject({
    url,
    remoteAddress,
    headers: { host: "localhost", ...(encoding === undefined ? {} : { "accept-encoding": encoding }) },
  });

test("S20: long JSON is compressed for remote clients that accept it, and has the same content", async () => {
  const reply = await ask("/api/conversations/search?limit=100", far, "br, gzip");
  expect(reply.headers).toMatchObject({
    "content-encoding": "gzip",
    vary: expect.stringContaining("Accept-Encoding") as string,
  });
  expect(Number(reply.headers["content-length"])).toBe(reply.rawPayload.length);
  expect(reply.rawPayload.length).toBeLessThan(long.length / 3);
  expect(gunzipSync(reply.rawPayload).toString()).toBe(long);
});

test("S20: a cached page is compressed for clients that accept it, and sent plain to others", async () => {
  const [first, again] = [
    await ask("/api/conversations/page", far, "gzip"),
    await ask("/api/conversations/page", far, "gzip"),
  ];
  expect(again.headers["content-encoding"]).toBe("gzip");
  expect(again.rawPayload).toEqual(first.rawPayload);
  expect(gunzipSync(again.rawPayload).toString()).toBe(long);
  const plain = await ask("/api/conversations/page", far);
  expect([plain.headers["content-encoding"], plain.payload]).toEqual([undefined, long]);
});

test.each([
  ["a client of this machine", "/api/conversations/search", "127.0.0.1", "gzip"],
  ["one of this machine over IPv6", "/api/conversations/search", "::ffff:127.0.0.1", "gzip"],
  ["one that does not ask", "/api/conversations/search", far, undefined],
  ["one that refuses", "/api/conversations/search", far, "gzip;q=0"],
  ["a short answer", "/api/conversations/short", far, "gzip"],
  ["what is no JSON", "/api/conversations/text", far, "gzip"],
  ["what can hold secrets", "/api/settings", far, "gzip"],
])("S20: for %s it goes out as it is", async (_what, url, address, encoding) => {
  const reply = await ask(url, address, encoding);
  expect(reply.statusCode).toBe(200);
  expect(reply.headers["content-encoding"]).toBe(undefined);
});
