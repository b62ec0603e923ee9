import { appServerRoutes, legacyRoutes, type Route } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type Reply, type TestServer } from "../../testing/start-server.ts";

type Operation = keyof typeof routes;
type Case = {
  readonly operation: Operation;
  readonly what: string;
  readonly status: number;
  readonly body?: unknown;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  /** Where the first complaint of a 422 must lead. */
  readonly loc?: readonly (string | number)[];
};

const routes = { ...legacyRoutes, ...appServerRoutes };
const validator = createValidator();
const mask = "**********";
const long = "x".repeat(65_537);

/** In order: later ones find what earlier ones stored. */
const good: readonly Case[] = [
  { operation: "loadSettings", what: "nothing stored", status: 200 },
  { operation: "loadUserSettings", what: "nothing stored", status: 200 },
  { operation: "getCurrentUser", what: "nothing stored", status: 200 },
  { operation: "storeSettings", what: "nothing named", body: {}, status: 200 },
  {
    operation: "storeSettings",
    what: "every kind of field",
    body: {
      language: "de",
      llm_model: "openai/gpt-5",
      llm_api_key: "canary-llm",
      max_iterations: 7,
      max_budget_per_task: 1.5,
      confirmation_mode: true,
      enable_sound_notifications: true,
      disabled_skills: ["one"],
      surprise: 1,
    },
    status: 200,
  },
  {
    operation: "storeSettings",
    what: "MCP servers as older clients write them",
    body: {
      mcp_config: {
        sse_servers: ["https://sse.example.org/x", { url: "wss://b.example.org", api_key: "canary-mcp" }],
        stdio_servers: [
          { name: "fetch-1", command: "uvx", args: "mcp-server 'a b'", env: "K=canary-env,L=2" },
        ],
        shttp_servers: [{ url: "https://h.example.org", timeout: 10 }],
      },
    },
    status: 200,
  },
  { operation: "loadSettings", what: "with everything", status: 200 },
  { operation: "loadUserSettings", what: "with everything", status: 200 },
  {
    operation: "storeUserSettings",
    what: "nested",
    body: {
      agent_settings_diff: {
        llm: { temperature: 0.5, aws_secret_access_key: "canary-aws" },
        mcp_config: {
          docs: { url: "https://docs.example.org", headers: { Authorization: "canary-header" } },
        },
        condenser: { enabled: false, max_size: 30 },
      },
      conversation_settings_diff: { max_iterations: 9, security_analyzer: "none" },
    },
    status: 200,
  },
  { operation: "getAgentSettingsForm", what: "", status: 200 },
  { operation: "getConversationSettingsForm", what: "", status: 200 },
  { operation: "resetSettings", what: "", status: 410 },
  { operation: "createSecret", what: "", body: { name: "A", value: "canary-secret" }, status: 201 },
  { operation: "createSecret", what: "taken", body: { name: "A", value: "other" }, status: 400 },
  { operation: "putSecret", what: "taken", body: { name: "A", value: "canary-put" }, status: 201 },
  { operation: "putSecret", what: "new", body: { name: "B", value: "v", description: "d" }, status: 201 },
  { operation: "listSecretNames", what: "", status: 200 },
  { operation: "searchSecrets", what: "", status: 200 },
  {
    operation: "searchSecrets",
    what: "every parameter",
    query: "?name__contains=b&page_id=A&limit=1",
    status: 200,
  },
  { operation: "updateSecret", what: "", path: { secret_id: "A" }, body: { name: "C" }, status: 200 },
  { operation: "updateSecret", what: "taken", path: { secret_id: "C" }, body: { name: "B" }, status: 400 },
  { operation: "updateSecret", what: "missing", path: { secret_id: "A" }, body: { name: "D" }, status: 404 },
  {
    operation: "renameSecret",
    what: "",
    path: { secret_id: "C" },
    body: { name: "A", description: null },
    status: 200,
  },
  { operation: "renameSecret", what: "taken", path: { secret_id: "A" }, body: { name: "B" }, status: 409 },
  { operation: "renameSecret", what: "missing", path: { secret_id: "C" }, body: { name: "D" }, status: 404 },
  { operation: "deleteSecret", what: "", path: { secret_id: "A" }, status: 200 },
  { operation: "deleteSecret", what: "missing", path: { secret_id: "A" }, status: 404 },
  { operation: "removeSecret", what: "", path: { secret_id: "B" }, status: 200 },
  { operation: "removeSecret", what: "missing", path: { secret_id: "B" }, status: 404 },
  {
    operation: "storeProviderTokens",
    what: "",
    body: { provider_tokens: { github: { token: "canary-git", host: "git.example.org" } } },
    status: 200,
  },
  {
    operation: "storeGitProviders",
    what: "another",
    body: { provider_tokens: { gitlab: { token: "t" } } },
    status: 200,
  },
  { operation: "unsetProviderTokens", what: "", status: 200 },
  { operation: "removeGitProviders", what: "", status: 200 },
  { operation: "saveProfile", what: "of the settings", path: { name: "main" }, status: 201 },
  {
    operation: "saveProfile",
    what: "of its own",
    path: { name: "other.1" },
    body: { llm: { model: "m", api_key: "canary-profile" } },
    status: 201,
  },
  { operation: "listProfiles", what: "", status: 200 },
  { operation: "getProfile", what: "", path: { name: "other.1" }, status: 200 },
  { operation: "getProfile", what: "missing", path: { name: "none" }, status: 404 },
  { operation: "activateProfile", what: "", path: { name: "main" }, status: 200 },
  { operation: "activateProfile", what: "missing", path: { name: "none" }, status: 404 },
  {
    operation: "renameProfile",
    what: "taken",
    path: { name: "main" },
    body: { new_name: "other.1" },
    status: 409,
  },
  {
    operation: "renameProfile",
    what: "missing",
    path: { name: "none" },
    body: { new_name: "x" },
    status: 404,
  },
  { operation: "renameProfile", what: "", path: { name: "main" }, body: { new_name: "mine" }, status: 200 },
  { operation: "deleteProfile", what: "", path: { name: "other.1" }, status: 200 },
  { operation: "deleteProfile", what: "again", path: { name: "other.1" }, status: 200 },
  { operation: "getCurrentUser", what: "", status: 200 },
  { operation: "getWebClientConfig", what: "", status: 200 },
];

const sse = (server: unknown) => ({ mcp_config: { sse_servers: [server] } });
const stdio = (server: object) => ({
  mcp_config: { stdio_servers: [{ name: "a", command: "b", ...server }] },
});
const refusedSettings: readonly (readonly [string, unknown, readonly (string | number)[]])[] = [
  ["a list", [], []],
  ["a number as language", { language: 1 }, ["language"]],
  ["no steps", { max_iterations: 0 }, ["max_iterations"]],
  ["half a step", { max_iterations: 1.5 }, ["max_iterations"]],
  ["null as a flag", { enable_default_condenser: null }, ["enable_default_condenser"]],
  ["a negative budget", { max_budget_per_task: -1 }, ["max_budget_per_task"]],
  ["a small condenser", { condenser_max_size: 19 }, ["condenser_max_size"]],
  ["a long key", { llm_api_key: long }, ["llm_api_key"]],
  ["the mask as language", { language: mask }, ["language"]],
  ["the mask as model", { llm_model: mask }, ["llm", "model"]],
  ["unknown MCP list", { mcp_config: { servers: [] } }, ["mcp_config", "servers"]],
  ["address without scheme", sse("example.org"), ["mcp_config", "sse_servers", 0, "url"]],
  ["address of a file", sse("file:///etc/passwd"), ["mcp_config", "sse_servers", 0, "url"]],
  ["address with a password", sse("https://a:b@example.org"), ["mcp_config", "sse_servers", 0, "url"]],
  ["empty address", sse({ url: "" }), ["mcp_config", "sse_servers", 0, "url"]],
  [
    "mask without a key",
    sse({ url: "https://new.example.org", api_key: mask }),
    ["mcp_config", "sse_servers", 0, "api_key"],
  ],
  ["name with a space", stdio({ name: "a b" }), ["mcp_config", "stdio_servers", 0, "name"]],
  ["command with arguments", stdio({ command: "npx thing" }), ["mcp_config", "stdio_servers", 0, "command"]],
  ["bad variable", stdio({ env: { "A-B": "c" } }), ["mcp_config", "stdio_servers", 0, "env"]],
  [
    "token of an unknown provider",
    { secrets_store: { provider_tokens: { svn: {} } } },
    ["secrets_store", "provider_tokens", "svn"],
  ],
  [
    "custom secrets here",
    { secrets_store: { custom_secrets: { A: "b" } } },
    ["secrets_store", "custom_secrets"],
  ],
  ["unknown strategy", { sandbox_grouping_strategy: "ALL" }, ["sandbox_grouping_strategy"]],
  [
    "an unknown kind of agent",
    { agent_settings_diff: { agent_kind: "robot" } },
    ["agent_settings_diff", "agent_kind"],
  ],
  [
    "a server without address",
    { agent_settings_diff: { mcp_config: { a: {} } } },
    ["agent_settings_diff", "mcp_config", "a"],
  ],
  ["the mask in a list", { agent_settings_diff: { tools: [mask] } }, ["agent_settings_diff", "tools", 0]],
  [
    "unknown conversation setting",
    { conversation_settings_diff: { speed: 1 } },
    ["conversation_settings_diff", "speed"],
  ],
  [
    "bad conversation setting",
    { conversation_settings_diff: { max_iterations: "9" } },
    ["conversation_settings_diff", "max_iterations"],
  ],
];

const bad: readonly Case[] = [
  ...refusedSettings.flatMap(([what, body, loc]) =>
    (["storeSettings", "storeUserSettings"] as const).map((operation): Case => ({
      operation,
      what,
      body,
      status: 422,
      loc: ["body", ...loc],
    })),
  ),
  ...(["createSecret", "putSecret"] as const).flatMap((operation): Case[] => [
    { operation, what: "no value", body: { name: "A" }, status: 422, loc: ["body", "value"] },
    { operation, what: "empty value", body: { name: "A", value: "" }, status: 422, loc: ["body", "value"] },
    { operation, what: "long value", body: { name: "A", value: long }, status: 422, loc: ["body", "value"] },
    {
      operation,
      what: "masked value",
      body: { name: "A", value: mask },
      status: 422,
      loc: ["body", "value"],
    },
    { operation, what: "bad name", body: { name: "1 A", value: "v" }, status: 422, loc: ["body", "name"] },
    {
      operation,
      what: "reserved",
      body: { name: "LD_PRELOAD", value: "v" },
      status: 422,
      loc: ["body", "name"],
    },
  ]),
  ...(["updateSecret", "renameSecret"] as const).map((operation): Case => ({
    operation,
    what: "bad name",
    path: { secret_id: "A" },
    body: { name: "" },
    status: 422,
    loc: ["body", "name"],
  })),
  ...(["storeProviderTokens", "storeGitProviders"] as const).map((operation): Case => ({
    operation,
    what: "unknown provider",
    body: { provider_tokens: { svn: { token: "t" } } },
    status: 422,
    loc: ["body", "provider_tokens", "svn"],
  })),
  { operation: "searchSecrets", what: "limit 0", query: "?limit=0", status: 422, loc: ["query", "limit"] },
  {
    operation: "searchSecrets",
    what: "limit 101",
    query: "?limit=101",
    status: 422,
    loc: ["query", "limit"],
  },
  ...(["saveProfile", "getProfile", "deleteProfile", "activateProfile"] as const).map((operation): Case => ({
    operation,
    what: "bad name",
    path: { name: "a b" },
    status: 422,
    loc: ["path", "name"],
  })),
  {
    operation: "saveProfile",
    what: "no object",
    path: { name: "a" },
    body: { llm: 1 },
    status: 422,
    loc: ["body", "llm"],
  },
  {
    operation: "renameProfile",
    what: "bad name",
    path: { name: "mine" },
    body: { new_name: "a b" },
    status: 422,
    loc: ["body", "new_name"],
  },
];

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

test.each([...good, ...bad])("$operation, $what: $status, and the body fits its schema", async (given) => {
  const before = given.status === 422 ? (await server.call("GET", "/api/v1/settings")).text : null;
  const reply = await call(given);
  expect(reply.status, reply.text).toBe(given.status);
  expectDocumented(given.operation, reply);
  // P13: whatever was stored, no reply shows it.
  expect(reply.text).not.toContain("canary");
  if (given.loc !== undefined) expect(reply.json).toMatchObject({ detail: [{ loc: given.loc }] });
  if (before !== null) expect((await server.call("GET", "/api/v1/settings")).text).toBe(before);
});

test("every operation has a case that is answered as meant", () => {
  expect(new Set(good.map(({ operation }) => operation))).toEqual(new Set(Object.keys(routes)));
});

describe("P3: without a key, or with a wrong one", () => {
  test.each(Object.values(routes).map((route: Route) => [route.operationId, route] as const))(
    "%s",
    async (_, { method, path, auth }) => {
      const url = `${server.url}${path.replaceAll(/\{\w+\}/g, "x")}`;
      for (const headers of [{}, { "X-Session-API-Key": "wrong" }] as const) {
        const reply = await fetch(url, { method, headers });
        const text = await reply.text();
        expect(reply.status).toBe(auth ? 401 : 200);
        if (auth) expect(JSON.parse(text)).toMatchObject({ detail: "Unauthorized" });
      }
    },
  );
});

test("each user has settings, secrets and profiles of their own", async () => {
  await using keys = await server.openKeys();
  const { key } = await keys.store.create("bob", "");
  const asBob = { "X-Session-API-Key": key };
  await server.call("POST", "/api/settings", { language: "fr" });
  await server.call("POST", "/api/secrets", { name: "MINE", value: "v" });
  await server.call("POST", "/api/v1/settings/profiles/mine2", { llm: { model: "m" } });
  const get = async (path: string) => (await server.call("GET", path, undefined, asBob)).json;
  expect(await get("/api/settings")).toMatchObject({ language: null });
  expect(await get("/api/secrets")).toEqual({ custom_secrets: [] });
  expect(await get("/api/v1/settings/profiles")).toEqual({ profiles: [], active_profile: null });
  expect(await get("/api/v1/users/me")).toMatchObject({ id: "bob" });
  for (const [method, path, body] of [
    ["DELETE", "/api/secrets/MINE", undefined],
    ["DELETE", "/api/v1/secrets/MINE", undefined],
    ["PUT", "/api/secrets/MINE", { name: "B" }],
    ["PUT", "/api/v1/secrets/MINE", { name: "B" }],
    ["GET", "/api/v1/settings/profiles/mine2", undefined],
    ["POST", "/api/v1/settings/profiles/mine2/activate", undefined],
    ["POST", "/api/v1/settings/profiles/mine2/rename", { new_name: "x" }],
  ] as const) {
    expect((await server.call(method, path, body, asBob)).status, path).toBe(404);
  }
  expect((await server.call("GET", "/api/secrets")).json).toMatchObject({
    custom_secrets: [{ name: "MINE" }],
  });
});

async function call({ operation, path = {}, query = "", body }: Case): Promise<Reply> {
  const route: Route = routes[operation];
  const url = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ""));
  return await server.call(route.method, `${url}${query}`, body);
}

function expectDocumented(operation: Operation, reply: Reply): void {
  const { responses }: Route = routes[operation];
  expect(Object.keys(responses), `${operation} documents ${reply.status}`).toContain(String(reply.status));
  const { schema } = responses[reply.status]!;
  expect(validator.check(schema!, structuredClone(reply.json))).toMatchObject({ ok: true });
}
