import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { TestSocket } from "../../../testing/test-socket.ts";

const canary = {
  header: "canary-header-5f1e2d",
  condenserHeader: "canary-condenser-77ab",
  mcpQuery: "canary-mcp-query-90cd",
  lookupQuery: "canary-lookup-query-13ef",
  serverKey: "canary-server-key-42aa",
  masterKey: "canary-master-secret-of-32-characters",
};

test("P13, S24 to S26: headers of models, queries of addresses and the server's keys are in no answer, frame or event", async () => {
  await using server = await startTestServer({
    config: { sessionApiKeys: ["test-session-key", canary.serverKey], masterSecret: canary.masterKey },
    script: { turns: [{ text: `I read ${canary.serverKey} and ${canary.masterKey}.` }] },
  });
  const request = server.startRequest({ text: `Say ${canary.header} and ${canary.mcpQuery}.` });
  const llm = { ...request.agent.llm, extra_headers: { "X-Gateway": canary.header } };
  const created = await server.call("POST", "/api/conversations", {
    ...request,
    agent: {
      ...request.agent,
      llm,
      condenser: {
        kind: "LLMSummarizingCondenser",
        llm: { ...llm, extra_headers: { "X.Gateway": canary.condenserHeader } },
      },
      mcp_config: { remote: { url: `http://127.0.0.1:9/mcp?token=${canary.mcpQuery}&v=2` } },
    },
    secrets: {
      RESOLVED: { kind: "LookupSecret", url: `http://127.0.0.1:9/s?key=${canary.lookupQuery}` },
    },
  });
  expect(created.status, created.text).toBe(201);
  expect(created.json).toMatchObject({
    agent: {
      llm: { extra_headers: { "X-Gateway": "**********" } },
      mcp_config: { remote: { url: "http://127.0.0.1:9/mcp?token=**********&v=2" } },
    },
    secret_registry: {
      secret_sources: { RESOLVED: { url: "http://127.0.0.1:9/s?key=**********" } },
    },
  });
  const { id } = created.json as { id: string };
  using socket = new TestSocket(`${server.url}/sockets/events/${id}?resend_mode=all`, {
    headers: { "x-session-api-key": server.key },
  });
  await server.waitForStatus(id, "finished", 30_000);
  await socket.until((events) => events.some(({ value }) => value === "finished"));
  const events = await server.call("GET", `/api/conversations/${id}/events/search`);
  expect(events.text).toContain("I read <secret-hidden> and <secret-hidden>.");
  await server.client.updateSecrets(id, { ANOTHER: "canary-another-value" });
  const seen = [
    created.text,
    events.text,
    socket.frames.join("\n"),
    (await server.call("GET", `/api/conversations/${id}`)).text,
    (await server.call("GET", "/api/conversations/search")).text,
    JSON.stringify(server.log),
  ].join("\n");
  expect(Object.values(canary).filter((value) => seen.includes(value))).toEqual([]);
  // The model's gateway got the real one.
  expect(JSON.stringify(server.model.requests)).toContain(canary.header);
});

test("S25: headers that an earlier version stored in the clear are never shown, and sealed when the conversation is next used", async () => {
  await using server = await startTestServer({
    script: { turns: [{ text: `It is ${canary.header}.` }], loop: true },
  });
  const { agent } = server.startRequest();
  const condenser = { kind: "LLMSummarizingCondenser" as const, llm: agent.llm };
  const { id } = await server.createConversation({ agent: { ...agent, condenser } });
  await server.close();
  inDatabase(server, (database) => {
    const headers = {
      agent: { "X-Gateway": canary.header },
      condenser: { "X-Gateway": canary.condenserHeader },
    };
    database
      .prepare(
        `UPDATE conversation_documents SET config = json_set(config, '$.agent.llm.extra_headers', json(?),
          '$.agent.condenser.llm.extra_headers', json(?))`,
      )
      .run(JSON.stringify(headers.agent), JSON.stringify(headers.condenser));
  });
  expect(storedConfigs(server)).toContain(canary.header);
  await server.restart();
  const path = `/api/conversations/${id}`;
  const shown = async (): Promise<string> =>
    (
      await Promise.all(
        [path, "/api/conversations/search", `${path}/events/search`].map((at) => server.call("GET", at)),
      )
    )
      .map(({ text }) => text)
      .join("\n");
  const before = await shown();
  expect(before).toContain('"X-Gateway":"**********"');
  const fork = (await server.call("POST", `${path}/fork`, {})).json as { id: string };
  for (const one of [fork.id, id]) {
    await server.client.sendMessage(one, { content: [{ type: "text", text: "go" }], run: true });
    await server.waitForStatus(one, "finished", 30_000);
  }
  expect(server.model.requests.map(({ headers }) => headers["x-gateway"])).toEqual([
    canary.header,
    canary.header,
  ]);
  const after = await shown();
  for (const value of [canary.header, canary.condenserHeader]) {
    expect(before + after + JSON.stringify(fork)).not.toContain(value);
    expect(storedConfigs(server)).not.toContain(value);
  }
  expect(after).toContain("It is <secret-hidden>.");
});

function inDatabase<Result>(server: TestServer, work: (database: DatabaseSync) => Result): Result {
  using database = new DatabaseSync(join(server.dataDir, "journal.db"));
  return work(database);
}

function storedConfigs(server: TestServer): string {
  return inDatabase(server, (database) =>
    JSON.stringify(database.prepare("SELECT config FROM conversation_documents").all()),
  );
}

const mask = "**********";

type Shown = { kind: string; key?: string; value?: { code?: string; fields?: string[]; detail?: string } };

async function maskedFields(server: TestServer, id: string): Promise<string[]> {
  const { items } = (await server.call("GET", `/api/conversations/${id}/events/search`)).json as {
    items: Shown[];
  };
  return items.flatMap(({ key, value }) =>
    key === "warning" && value?.code === "masked_values_empty" ? (value.fields ?? []) : [],
  );
}

test("client 1, P33: a mask that names no stored secret is an empty value with a warning, and stored nowhere", async () => {
  await using server = await startTestServer({ config: { masterSecret: canary.masterKey } });
  const request = server.startRequest({ text: "Hello" });
  const llm = { ...request.agent.llm, extra_headers: { "X-Gateway": mask } };
  const servers = {
    tavily: { command: "true", env: { TAVILY_API_KEY: mask }, enabled: false },
    remote: { url: `http://127.0.0.1:9/mcp?token=${mask}&v=2`, headers: { "X-Key": mask }, auth: mask },
  };
  const definition = { name: "web", tools: [], system_prompt: "You search.", mcp_config: servers };
  const created = await server.call("POST", "/api/conversations", {
    ...request,
    agent: {
      ...request.agent,
      llm: { ...llm, aws_session_token: mask },
      mcp_config: servers,
      condenser: { kind: "LLMSummarizingCondenser", llm: { ...llm, api_key: mask } },
      agent_context: { secrets: { CONTEXT: mask } },
    },
    agent_definitions: [{ ...definition, condenser: { kind: "LLMSummarizingCondenser", llm } }],
    secrets: {
      ONE: { kind: "StaticSecret", value: mask },
      TWO: { kind: "LookupSecret", url: `https://h/secret?token=${mask}`, headers: { A: mask } },
    },
  });
  expect(created.status, created.text).toBe(201);
  const { id } = created.json as { id: string };
  await server.waitForStatus(id, "finished", 30_000);
  expect((await maskedFields(server, id)).sort()).toEqual(
    [
      "agent.agent_context.secrets.CONTEXT",
      "agent.condenser.llm.api_key",
      "agent.condenser.llm.extra_headers.X-Gateway",
      "agent.llm.aws_session_token",
      "agent.llm.extra_headers.X-Gateway",
      ...["agent", "agent_definitions.0"].flatMap((part) => [
        `${part}.mcp_config.remote.auth`,
        `${part}.mcp_config.remote.headers.X-Key`,
        `${part}.mcp_config.remote.url`,
        `${part}.mcp_config.tavily.env.TAVILY_API_KEY`,
      ]),
      "agent_definitions.0.condenser.llm.extra_headers.X-Gateway",
      "secrets.ONE.value",
      "secrets.TWO.headers.A",
      "secrets.TWO.url",
    ].sort(),
  );
  expect(await server.call("GET", `/api/conversations/${id}`)).toMatchObject({
    json: { agent: { mcp_config: { remote: { url: "http://127.0.0.1:9/mcp?token=&v=2" } } } },
  });
});

test("client 1: the mask of the stored model's key is that key", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Hello." }] } });
  const request = server.startRequest({ text: "Hello" });
  await server.call("PATCH", "/api/settings", { agent_settings_diff: { llm: request.agent.llm } });
  const { id } = await server.createConversation({
    ...request,
    agent: { ...request.agent, llm: { ...request.agent.llm, api_key: mask } },
  });
  await server.waitForStatus(id, "finished", 30_000);
  expect(await maskedFields(server, id)).toEqual([]);
  expect(server.model.requests[0]!.headers["authorization"]).toBe(`Bearer ${request.agent.llm.api_key}`);
});

test("client 1: a later secret with a mask is the stored one of its name, and empty where there is none", async () => {
  await using server = await startTestServer();
  const { id } = await server.createConversation();
  const send = async (secrets: object): Promise<number> =>
    (await server.call("POST", `/api/conversations/${id}/secrets`, { secrets })).status;
  const lookup = (token: string): object => ({
    kind: "LookupSecret",
    url: `http://127.0.0.1:9/s?token=${token}`,
  });
  expect(await send({ KNOWN: lookup("abc-secret-token") })).toBe(200);
  expect(await send({ KNOWN: lookup(mask), NEW: lookup(mask), PLAIN: mask })).toBe(200);
  expect((await maskedFields(server, id)).sort()).toEqual(["secrets.NEW.url", "secrets.PLAIN.value"]);
  const { json } = await server.call("GET", `/api/conversations/${id}`);
  expect(json).toMatchObject({
    secret_registry: {
      secret_sources: {
        KNOWN: { url: `http://127.0.0.1:9/s?token=${mask}` },
        NEW: { url: "http://127.0.0.1:9/s?token=" },
      },
    },
  });
});

test("client 1: a model that is switched to works without the header of which the mask came", async () => {
  await using server = await startTestServer();
  const { id } = await server.createConversation();
  const { llm } = server.startRequest().agent;
  const masked = { ...llm, extra_headers: { "X-Gateway": mask } };
  expect((await server.call("POST", `/api/conversations/${id}/switch_llm`, { llm: masked })).status).toBe(
    200,
  );
  expect(await maskedFields(server, id)).toEqual(["llm.extra_headers.X-Gateway"]);
});

test("P33, S26: settings with a token in an address are what they were after GET and PUT, in both forms", async () => {
  await using server = await startTestServer();
  const url = `https://one.example/mcp?token=${canary.mcpQuery}`;
  await server.call("PATCH", "/api/settings", {
    agent_settings_diff: { mcp_config: { one: { url, transport: "http" } } },
  });
  const before = await server.call("GET", "/api/settings");
  expect(before.text).not.toContain(canary.mcpQuery);
  expect(before.text).toContain("https://one.example/mcp?token=**********");
  const { mcp_config, agent_settings } = before.json as Record<string, object>;
  expect((await server.call("POST", "/api/settings", { mcp_config })).status).toBe(200);
  await server.call("PATCH", "/api/settings", { agent_settings_diff: agent_settings });
  expect(await plainUrl(server)).toBe(url);
  const other = { one: { url: "https://two.example/mcp?token=**********", transport: "http" } };
  const refused = await server.call("PATCH", "/api/settings", { agent_settings_diff: { mcp_config: other } });
  expect(refused.status).toBe(422);
  expect(await plainUrl(server)).toBe(url);
});

async function plainUrl(server: TestServer): Promise<unknown> {
  const reply = await fetch(`${server.url}/api/settings`, {
    headers: { "x-session-api-key": server.key, "x-expose-secrets": "plaintext" },
  });
  const { agent_settings: settings } = (await reply.json()) as {
    agent_settings: { mcp_config: { one: { url: string } } };
  };
  return settings.mcp_config.one.url;
}
