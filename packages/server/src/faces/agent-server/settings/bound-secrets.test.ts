import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
});
afterAll(() => server[Symbol.asyncDispose]());

const value = "ghp_value-of-the-token";
const hosts = ["git.example.com"];
const list = async (): Promise<unknown> => (await server.call("GET", "/api/settings/secrets")).json;

test("a user's secret is bound by each form of the routes; lists show hosts and never values", async () => {
  const put = { name: "TOKEN", value, hosts, as: "basic", shape: "ghp_" };
  expect((await server.call("PUT", "/api/settings/secrets", put)).json).toEqual({
    name: "TOKEN",
    description: null,
    hosts,
    as: "basic",
    shape: "ghp_",
  });
  const shown = { name: "TOKEN", description: null, hosts, as: "basic", shape: "ghp_" };
  expect(await list()).toEqual({ secrets: [shown] });
  expect((await server.call("GET", "/api/secrets")).json).toEqual({ custom_secrets: [shown] });
  expect((await server.call("GET", "/api/v1/secrets/search")).json).toMatchObject({ items: [shown] });

  // A client that knows no hosts sends a new value.
  await server.call("POST", "/api/v1/secrets", { name: "TOKEN", value: `${value}-2` });
  expect(await list()).toEqual({ secrets: [shown] });
  // The value stays when the hosts change.
  await server.call("PUT", "/api/v1/secrets/TOKEN", { name: "TOKEN", hosts: ["other.example.com"] });
  expect(await list()).toEqual({
    secrets: [{ name: "TOKEN", description: null, hosts: ["other.example.com"] }],
  });
  expect((await server.call("GET", "/api/settings/secrets/TOKEN")).text).toBe(`${value}-2`);
  await server.call("PUT", "/api/secrets/TOKEN", { name: "TOKEN", hosts: null });
  expect(await list()).toEqual({ secrets: [{ name: "TOKEN", description: null }] });
});

test("hosts that cannot bind are refused with the field, and nothing is stored", async () => {
  const refused = await server.call("PUT", "/api/settings/secrets", { name: "AWS", value, hosts: ["*"] });
  expect(refused).toMatchObject({ status: 422, json: { detail: [{ loc: ["body", "hosts", 0] }] } });
  const aws = { name: "AWS", value: "AKIAABCDEFGHIJKLMNOP", hosts };
  expect((await server.call("POST", "/api/v1/secrets", aws)).text).toContain("AWS requests are signed");
  expect(JSON.stringify(await list())).not.toContain("AWS");
});

test("a conversation without a wall refuses bound secrets, given or stored, and keeps those without hosts", async () => {
  await server.call("PUT", "/api/settings/secrets", { name: "STORED", value, hosts });
  const start = async (secrets: object) =>
    server.call("POST", "/api/conversations", { ...server.startRequest(), secrets });
  const given = await start({ TOKEN: { kind: "StaticSecret", value, hosts } });
  expect(given).toMatchObject({
    status: 422,
    json: { detail: [{ loc: ["body", "secrets", "TOKEN", "hosts"] }] },
  });
  expect(given.text).toContain("has no wall");
  const stored = { kind: "LookupSecret", url: "/api/settings/secrets/STORED" };
  expect((await start({ STORED: stored })).status).toBe(422);
  const plain = await start({ PLAIN: { kind: "StaticSecret", value: "plain-value" } });
  expect(plain.status).toBe(201);
  const { id } = plain.json as { id: string };
  const late = await server.call("POST", `/api/conversations/${id}/secrets`, {
    secrets: { TOKEN: { kind: "StaticSecret", value, hosts } },
  });
  expect(late.status).toBe(422);
  expect((await server.events(id)).map((event) => JSON.stringify(event)).join("")).not.toContain(value);
});
