import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { probePostgres, startPostgres, type TestPostgres } from "../testing/start-postgres.ts";
import { startTestServer, type Reply, type TestServer } from "../testing/start-server.ts";
import { TestSocket } from "../testing/test-socket.ts";

type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>> };

const probe = probePostgres();
/** A server that is given is not ours to stop. */
const isUsable = probe.isUsable && process.env["CONVOKE_TEST_DATABASE"] === undefined;
const longMs = 60_000;
const unknown = "00000000-0000-7000-8000-000000000000";

describe.skipIf(!isUsable)(
  `while the database is unavailable (${probe.detail})`,
  { timeout: 300_000 },
  () => {
    let postgres: TestPostgres;
    let server: TestServer;
    let conversation: string;
    const answers = new Map<string, Reply>();
    beforeAll(async () => {
      postgres = await startPostgres();
      const database = { url: await postgres.createDatabase(), nodeAddress: null };
      server = await startTestServer({
        script: { turns: [{ text: "Hello." }] },
        config: { database, masterSecret: "the secret of all servers" },
      });
      ({ id: conversation } = await server.createConversation({ text: "Say hello." }));
      await server.waitForStatus(conversation, "finished", longMs);
      const { paths } = (await server.call("GET", "/openapi.json")).json as Document;
      const routes = Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
      );
      await postgres.halt();
      // A few at a time, as clients do.
      for (let at = 0; at < routes.length; at += 8)
        await Promise.all(routes.slice(at, at + 8).map((route) => ask(route)));
    }, 300_000);
    afterAll(async () => {
      await postgres?.resume();
      await server?.[Symbol.asyncDispose]();
      await postgres?.[Symbol.asyncDispose]();
    });

    async function ask({ method, path }: { readonly method: string; readonly path: string }): Promise<void> {
      const address = path.replaceAll("{conversation_id}", conversation).replaceAll(/\{\w+\}/g, unknown);
      const body = method === "GET" ? undefined : {};
      answers.set(`${method} ${path}`, await server.call(method, address, body));
    }

    test("P27: no route of all that are served answers that the server has a fault", () => {
      expect(answers.size).toBeGreaterThan(100);
      const faults = [...answers].filter(([, { status }]) => status >= 500 && status !== 503);
      expect(faults.map(([route, { status, text }]) => `${route}: ${status} ${text}`)).toEqual([]);
    });

    test("P27, P53: whatever needs it says so in the shape of all errors, and when to ask again", () => {
      const unavailable = [...answers].filter(([, { json }]) => codeOf(json) === "database_away");
      for (const [route, { status, headers, json }] of unavailable) {
        expect({ route, status, retryAfter: headers.get("retry-after"), json }).toEqual({
          route,
          status: 503,
          retryAfter: "2",
          json: expect.objectContaining({ code: "database_away", detail: expect.stringMatching(/\.$/) }),
        });
      }
      expect(unavailable.map(([route]) => route)).toEqual(
        expect.arrayContaining([
          "GET /api/conversations/search",
          "GET /api/conversations/count",
          "GET /api/conversations/{conversation_id}",
          "GET /api/conversations/{conversation_id}/events/search",
          "GET /api/conversations/{conversation_id}/events/count",
          "DELETE /api/conversations/{conversation_id}",
          "GET /api/settings",
          "GET /api/settings/secrets",
        ]),
      );
    });

    test("what does not need it is answered, a socket is told to come again, and then all is as before", async () => {
      expect((await server.call("GET", "/alive")).status).toBe(200);
      await expect
        .poll(async () => (await server.call("GET", "/ready")).status, { timeout: longMs })
        .toBe(503);
      const headers = { "x-session-api-key": server.key };
      using socket = new TestSocket(`${server.url}/sockets/events/${conversation}`, { headers });
      expect(await socket.closed).toMatchObject({ code: 1013 });
      await postgres.resume();
      await expect
        .poll(async () => (await server.call("GET", `/api/conversations/${conversation}`)).status, {
          timeout: longMs,
        })
        .toBe(200);
      await expect
        .poll(async () => (await server.call("GET", "/ready")).status, { timeout: longMs })
        .toBe(200);
    });
  },
);

function codeOf(json: unknown): unknown {
  return typeof json === "object" && json !== null && "code" in json ? json.code : null;
}
