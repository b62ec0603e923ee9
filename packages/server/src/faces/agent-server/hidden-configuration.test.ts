import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { TestSocket } from "../../testing/test-socket.ts";

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
      LOOKED_UP: { kind: "LookupSecret", url: `http://127.0.0.1:9/s?key=${canary.lookupQuery}` },
    },
  });
  expect(created.status, created.text).toBe(201);
  expect(created.json).toMatchObject({
    agent: {
      llm: { extra_headers: { "X-Gateway": "**********" } },
      mcp_config: { remote: { url: "http://127.0.0.1:9/mcp?token=**********&v=2" } },
    },
    secret_registry: {
      secret_sources: { LOOKED_UP: { url: "http://127.0.0.1:9/s?key=**********" } },
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

test("S25: headers that an earlier version stored in the clear are shown to nobody, and sealed when the conversation is next used", async () => {
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

test("P33: a mask of headers or of an address that was read is stored nowhere", async () => {
  await using server = await startTestServer();
  const request = server.startRequest();
  const refused = async (agent: object): Promise<unknown> => {
    const reply = await server.call("POST", "/api/conversations", {
      ...request,
      agent: { ...request.agent, ...agent },
    });
    return [reply.status, (reply.json as { detail: { loc: unknown }[] }).detail[0]?.loc];
  };
  expect(
    await refused({ llm: { ...request.agent.llm, extra_headers: { "X-Gateway": "**********" } } }),
  ).toEqual([422, ["body", "agent", "llm", "extra_headers", "X-Gateway"]]);
  expect(await refused({ mcp_config: { one: { url: "http://h/mcp?token=**********" } } })).toEqual([
    422,
    ["body", "agent", "mcp_config", "one", "url"],
  ]);
});

test("P33, S26: an address of a secret with a mask in it is refused, at the start and later", async () => {
  await using server = await startTestServer();
  const secrets = { ONE: { kind: "LookupSecret", url: "https://h/secret?token=**********" } };
  const { id } = await server.createConversation();
  for (const reply of [
    await server.call("POST", `/api/conversations/${id}/secrets`, { secrets }),
    await server.call("POST", "/api/conversations", { ...server.startRequest(), secrets }),
  ]) {
    expect(reply.status).toBe(422);
    expect(reply.json).toMatchObject({ detail: [{ loc: ["body", "secrets", "ONE", "url"] }] });
  }
  const whole = { ONE: { kind: "LookupSecret", url: "https://h/secret?token=abc" } };
  expect((await server.call("POST", `/api/conversations/${id}/secrets`, { secrets: whole })).status).toBe(
    200,
  );
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
