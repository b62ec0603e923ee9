import type { CreatedKey } from "@convoke/protocol";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/start-server.ts";
import { readAudit } from "../testing/read-audit.ts";
import { TestSocket } from "../testing/test-socket.ts";

const withKey = (key: string): Record<string, string> => ({ "X-Session-API-Key": key });
const path = "/api/conversations/count";

test("after five different wrong keys an address gets 429, also with the right configured key", async () => {
  await using server = await startTestServer({});
  const status = async (key: string): Promise<number> =>
    (await server.call("GET", path, undefined, withKey(key))).status;
  const issued = (await server.call("POST", "/api/keys", {})).json as CreatedKey;
  const ended = (await server.call("POST", "/api/keys", {})).json as CreatedKey;
  await server.call("DELETE", `/api/keys/${ended.id}`);
  // A client that sends a key that has ended again and again does not guess.
  for (let count = 0; count < 10; count += 1) expect(await status(ended.key)).toBe(401);
  for (const wrong of ["a", "b", "c", "d", "e"]) {
    expect(await status(server.key)).toBe(200);
    expect(await status(wrong)).toBe(401);
  }
  const refused = await server.call("GET", path);
  expect(refused).toMatchObject({ status: 429, json: { code: "too_many_attempts" } });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await status("f")).toBe(429);
  // Nobody guesses an issued key.
  expect(await status(issued.key)).toBe(200);
  using handshake = new TestSocket(`${server.url}/sockets/overview`, { headers: withKey(server.key) });
  expect(await handshake.opened).toBe(429);
  using frame = new TestSocket(`${server.url}/sockets/overview`);
  await frame.opened;
  frame.send({ type: "auth", session_api_key: server.key });
  expect(await frame.closed).toMatchObject({ code: 4001 });
  using known = new TestSocket(`${server.url}/sockets/overview`, { headers: withKey(issued.key) });
  expect(await known.opened).toBe("open");
  await expect
    .poll(async () => {
      const { refusals } = await readAudit(server.dataDir);
      return refusals.filter(({ status: found, route }) => found === 429 && route === path).length;
    })
    .toBe(1);
});
