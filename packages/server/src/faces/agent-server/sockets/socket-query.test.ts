import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { TestSocket } from "../../../testing/test-socket.ts";

let server: TestServer;
let id = "";
beforeAll(async () => {
  server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
  ({ id } = await server.createConversation());
});
afterAll(() => server[Symbol.asyncDispose]());

const options = () => ({ headers: { "x-session-api-key": server.key } });
const sockets = () => [
  `/sockets/events/${id}`,
  "/sockets/overview",
  "/sockets/bash-events",
  `/sockets/terminals/${id}`,
  `/sockets/shells/${id}`,
  `/sockets/browsers/${id}`,
];

/** The answer to a handshake that is refused. */
async function handshake(path: string): Promise<{ status: number; json: { detail: string; code: string } }> {
  const headers = {
    ...options().headers,
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  const asked = request(`${server.url}${path}`, { headers, agent: false }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, json: JSON.parse(await text(response)) };
}

test("F6: a socket without an upgrade is a 426 that says so, with and without a key", async () => {
  for (const path of sockets()) {
    for (const headers of [options().headers, {}]) {
      const reply = await fetch(`${server.url}${path}`, { headers });
      expect([path, reply.status, reply.headers.get("upgrade")]).toEqual([path, 426, "websocket"]);
      expect(await reply.json()).toMatchObject({ code: "upgrade_required", detail: expect.any(String) });
    }
  }
});

test("F7: a meaningless value and a typo of a name refuse the handshake by their name", async () => {
  const refused: [string, string, string][] = [
    ["events", "after_event_id=", "bad_after_event_id"],
    ["events", "after_event_id=a&after_event_id=b", "bad_after_event_id"],
    ["events", "resend_all=maybe", "bad_resend_all"],
    ["events", "resend_all=", "bad_resend_all"],
    ["events", "resend_mode=", "bad_resend_mode"],
    ["events", "resend_mode=since&after_timestamp=", "bad_after_timestamp"],
    ["events", "after_timestamp=2026-01-01T00:00:00Z", "bad_after_timestamp"],
    ["events", "deltas=pieces", "bad_deltas"],
    ["events", "progress=on+off", "bad_progress"],
    ["events", "standing=", "bad_standing"],
    ["events", "heartbeat=often", "bad_heartbeat"],
    ["events", "beat=", "bad_beat"],
    ["events", "trim=1e4", "bad_trim"],
    ["events", "afterEventId=x", "unknown_parameter"],
    ["events", "resend_modes=all", "unknown_parameter"],
    ["overview", "limit=", "bad_limit"],
    ["overview", "limits=5", "unknown_parameter"],
    ["bash-events", "resend_all=maybe", "bad_resend_all"],
    ["bash-events", "resend_mode=", "bad_resend_mode"],
    ["terminals", "terminal=", "bad_terminal"],
    ["shells", "shell=", "bad_shell"],
    ["browsers", "heartbeat=", "bad_heartbeat"],
  ];
  for (const [socket, query, code] of refused) {
    const path = sockets().find((known) => known.startsWith(`/sockets/${socket}`))!;
    const reply = await handshake(`${path}?${query}`);
    expect([query, reply.status, reply.json.code]).toEqual([query, 403, code]);
    const [name] = query.split("=");
    expect(reply.json.detail).toContain(code === "bad_after_timestamp" ? "after_timestamp" : name);
  }
});

test("F7: what was accepted is accepted, in every form of a boolean", async () => {
  for (const query of [
    "resend_all=True",
    "resend_all=1",
    "resend_all=false",
    "resend_mode=since",
    "theirs=1",
    "heartbeat=true",
  ]) {
    using socket = new TestSocket(`${server.url}/sockets/events/${id}?${query}`, options());
    expect([query, await socket.opened]).toEqual([query, "open"]);
  }
});

test("F7: a query parameter that is a typo, or has no value, is refused by its name", async () => {
  const events = `/api/conversations/${id}/events`;
  for (const [path, field] of [
    [`${events}/search?limits=5`, "limits"],
    [`${events}/search?pageId=x`, "pageId"],
    [`${events}/search?limit=`, "limit"],
    [`${events}/search?sort_order=`, "sort_order"],
    [`${events}/search?kind=`, "kind"],
    [`/api/search?q=word&kind=`, "kind"],
    [`${events}/search?source=`, "source"],
    [`${events}/count?source=`, "source"],
    [`${events}/search?timestamp__gte=`, "timestamp__gte"],
    [`${events}/search?timestamp_gte=2026-01-01`, "timestamp_gte"],
    ["/api/conversations/search?stats=idle", "stats"],
    ["/api/conversations/search?status=", "status"],
    ["/api/file/search_subdirs?path=/tmp&limit=maybe", "limit"],
  ]) {
    const reply = await server.call("GET", path!);
    expect(reply.status, `${path} ${reply.text}`).toBe(422);
    const { detail } = reply.json as { detail: { loc: string[] }[] };
    expect(detail.map(({ loc }) => loc.join("."))).toContain(`query.${field}`);
  }
  for (const query of [
    "kind=ThingsOfNextYearEvent",
    "kind=openhands.sdk.event.MessageEvent",
    "page_id=",
    "theirs=1",
  ])
    expect((await server.call("GET", `${events}/search?${query}`)).status).toBe(200);
});
