import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { TestSocket } from "../../../testing/test-socket.ts";

let server: TestServer;
let id = "";
beforeAll(async () => {
  server = await startTestServer({ script: { turns: [{ text: "Done." }], loop: true } });
  ({ id } = await server.createConversation());
});
afterAll(() => server[Symbol.asyncDispose]());

const half = "\ud83d";
const llm = { model: "openai/m" };

test.each([
  ["NUL", "a\0b"],
  ["half a pair", `a${half}`],
])(
  "K16: %s in a text that has a place of its own in the store is a 422 with the field",
  async (_what, bad) => {
    const path = `/api/conversations/${id}`;
    const refused: [string, string, object, string][] = [
      ["PATCH", path, { title: bad }, "body.title"],
      ["PATCH", path, { tags: { a: bad } }, "body.tags.a"],
      ["PATCH", path, { tags: { [bad]: "a" } }, "body.tags"],
      [
        "POST",
        `${path}/events`,
        { role: "user", content: "x", client_message_id: bad },
        "body.client_message_id",
      ],
      ["POST", "/api/conversations", { ...server.startRequest(), title: bad }, "body.title"],
      [
        "PATCH",
        "/api/settings",
        { agent_settings_diff: { llm: { model: bad } } },
        "body.agent_settings_diff.llm.model",
      ],
      ["PATCH", "/api/settings", { misc_settings_diff: { a: bad } }, "body.misc_settings_diff.a"],
      ["POST", "/api/v1/settings", { git_user_name: bad }, "body.git_user_name"],
      ["PUT", "/api/settings/secrets", { name: "A", value: bad }, "body.value"],
      ["POST", "/api/v1/secrets", { name: "A", value: "x", description: bad }, "body.description"],
      ["POST", "/api/profiles/mine", { llm: { ...llm, usage_id: bad } }, "body.llm.usage_id"],
      ["POST", "/api/keys", { label: bad }, "body.label"],
      [
        "POST",
        "/api/workspaces",
        { workspaces: [{ id: "1", name: bad, path: "/tmp" }] },
        "body.workspaces.0.name",
      ],
      ["POST", "/api/v1/app-conversations", { title: bad }, "body.title"],
    ];
    for (const [method, address, body, field] of refused) {
      const reply = await server.call(method, address, body);
      expect(reply.status, `${method} ${address} ${reply.text}`).toBe(422);
      const { detail } = reply.json as { detail: { loc: (string | number)[] }[] };
      expect(detail.map(({ loc }) => loc.join("."))).toContain(field);
    }
  },
);

test("K16: NUL in an address is a 422 with its parameter", async () => {
  for (const [method, address, field] of [
    ["GET", `/api/conversations/${id}/events/search?body=a%00b`, "query.body"],
    ["GET", "/api/search?q=a%00b", "query.q"],
    ["DELETE", "/api/workspaces?path=%2Fa%00b", "query.path"],
  ]) {
    const reply = await server.call(method!, address!);
    expect(reply.status, `${address} ${reply.text}`).toBe(422);
    const { detail } = reply.json as { detail: { loc: string[] }[] };
    expect(detail.map(({ loc }) => loc.join("."))).toContain(field);
  }
  for (const [method, address] of [
    ["GET", `/api/conversations/${id}/events/a%00b`],
    ["DELETE", "/api/v1/secrets/a%00b"],
    ["POST", "/api/v1/settings/profiles/a%00b/activate"],
    ["DELETE", "/api/keys/a%00b"],
  ])
    expect([404, 422]).toContain((await server.call(method!, address!)).status);
});

test("K16: different client message ids never collide, by request or by socket; the content is stored exactly", async () => {
  const { id: own } = await server.createConversation();
  const send = (clientId: string, content: string) =>
    server.call("POST", `/api/conversations/${own}/events`, {
      role: "user",
      content,
      client_message_id: clientId,
    });
  expect((await send("a\ufffd", "one")).status).toBe(200);
  expect((await send(`a${half}`, "two")).status).toBe(422);
  expect((await send("a\u{1f600}", `odd \0 ${half}`)).status).toBe(200);
  using socket = new TestSocket(`${server.url}/sockets/events/${own}`, {
    headers: { "x-session-api-key": server.key },
  });
  await socket.opened;
  socket.send({ role: "user", content: "three", client_message_id: `a${half}` });
  await socket.until((events) => events.some(({ kind }) => kind === "ServerErrorEvent"));
  const errors = socket.events.filter(({ kind }) => kind === "ServerErrorEvent");
  expect(JSON.stringify(errors)).toContain("client_message_id");
  const texts = (await server.events(own)).flatMap((event) =>
    event.kind === "MessageEvent" && event.source === "user" ? event.llm_message.content : [],
  );
  expect(texts).toMatchObject([{ text: "one" }, { text: `odd \0 ${half}` }]);
});
