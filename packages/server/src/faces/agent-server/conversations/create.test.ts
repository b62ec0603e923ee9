import { afterAll, beforeAll, expect, test } from "vitest";
import { JournalWriteError } from "../../../journal/journal.ts";
import { withMethods } from "../../../testing/with-methods.ts";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

let shared: TestServer;
beforeAll(async () => {
  shared = await startTestServer();
});
afterAll(() => shared[Symbol.asyncDispose]());

test.each([
  ["plugins", { plugins: [{ source: "x" }] }],
  ["agent_launch_additions", { agent_launch_additions: { tools: [] } }],
  ["agent_profile_id", { agent_profile_id: "00000000-0000-4000-8000-000000000000" }],
  ["conversation_id", { conversation_id: "000000000000-4000-8000-000000000000" }],
  ["title", { title: "   " }],
  ["agent_type", { agent_type: "planner" }],
  ["agent", { agent: { llm: { model: "openai/m", base_url: "no address" } } }],
  ["max_iterations", { max_iterations: 0 }],
  ["confirmation_policy", { confirmation_policy: { kind: "ConfirmRisky", threshold: "UNKNOWN" } }],
  ["initial_message", { initial_message: { role: "assistant", content: "x" } }],
])(
  "P55: a create with %s that cannot be honoured is a 422 that names it, and creates nothing",
  async (field, extra) => {
    const before = await shared.client.countConversations();
    const reply = await shared.call("POST", "/api/conversations", { ...shared.startRequest(), ...extra });
    expect(reply.status).toBe(422);
    expect(reply.json).toMatchObject({ detail: [{ loc: expect.arrayContaining(["body", field]) }] });
    expect(await shared.client.countConversations()).toBe(before);
  },
);

test("F26: an agent that the server chooses plans where the request says so", async () => {
  await using server = await startTestServer();
  await server.call("PATCH", "/api/settings", {
    agent_settings_diff: { llm: { model: "openai/m", api_key: "any" }, tools: [{ name: "terminal" }] },
  });
  const { agent: _, ...rest } = server.startRequest();
  const create = async (more: object): Promise<unknown> =>
    (await server.call("POST", "/api/conversations", { ...rest, ...more })).json;
  expect(await create({ agent_type: "plan" })).toMatchObject({
    agent: { system_prompt_filename: "system_prompt_planning.j2", tools: [{ name: "terminal" }] },
  });
  expect(await create({ agent_type: "default" })).not.toMatchObject({
    agent: { system_prompt_filename: "system_prompt_planning.j2" },
  });
});

test.each([
  ["without a run flag", { content: "hi" }, "finished"],
  ["as plain text", "hi", "finished"],
  ["with run: false", { content: "hi", run: false }, "idle"],
])("W26: an initial message %s leads to %s", async (_what, initial_message, status) => {
  await using server = await startTestServer({ script: { turns: [{ text: "Hello." }] } });
  const reply = await server.call("POST", "/api/conversations", {
    ...server.startRequest(),
    initial_message,
  });
  expect(reply.status).toBe(201);
  const { id } = reply.json as { id: string };
  await server.waitForStatus(id, status);
  expect(await server.client.countEvents(id, { kind: "MessageEvent", source: "user" })).toBe(1);
});

test("P18: a conversation and its first message are one commit, and it is not visible earlier", async () => {
  const commits: string[] = [];
  const isStored = Promise.withResolvers<void>();
  await using server = await startTestServer({
    script: { turns: [{ text: "Hello." }] },
    wrapJournal: (journal) =>
      withMethods(journal, {
        append: async (lease, batch) => {
          commits.push("append");
          await journal.append(lease, batch);
        },
        createClaimed: async (row, first) => {
          commits.push(`create ${first?.events.map(({ kind }) => kind).join(" ")}`);
          await isStored.promise;
          return await journal.createClaimed(row, first);
        },
      }),
  });
  const id = "44444444-0000-4000-8000-000000000001";
  const body = server.startRequest({ conversation_id: id, text: "hi" });
  const created = server.call("POST", "/api/conversations", body);
  await expect.poll(() => commits.length).toBe(1);
  expect((await server.call("GET", `/api/conversations/${id}`)).status).toBe(404);
  expect((await server.call("POST", `/api/conversations/${id}/pause`)).status).toBe(404);
  isStored.resolve();
  expect((await created).status).toBe(201);
  await server.waitForStatus(id, "finished");
  expect(commits[0]).toMatch(/^create SystemPromptEvent MessageEvent /);
  expect(commits.slice(1)).toEqual(["append"]);
});

test("P7: a conversation whose first message cannot be stored is not there, and comes with the next try", async () => {
  let isFull = true;
  await using server = await startTestServer({
    script: { turns: [{ text: "Hello." }] },
    wrapJournal: (journal) =>
      withMethods(journal, {
        createClaimed: async (row, first) => {
          if (isFull) throw new JournalWriteError("The disk is full.");
          return await journal.createClaimed(row, first);
        },
      }),
  });
  const id = "44444444-0000-4000-8000-000000000002";
  const body = server.startRequest({ conversation_id: id, text: "hi" });
  expect((await server.call("POST", "/api/conversations", body)).status).toBeGreaterThanOrEqual(500);
  expect((await server.call("GET", `/api/conversations/${id}`)).status).toBe(404);
  isFull = false;
  expect((await server.call("POST", "/api/conversations", body)).status).toBe(201);
  await server.waitForStatus(id, "finished");
});

test("P27: an id that somebody else takes while its message is on the way is theirs", async () => {
  await using server = await startTestServer({
    script: { turns: [{ text: "Hello." }], loop: true },
    wrapJournal: (journal) =>
      withMethods(journal, {
        createClaimed: async (row, first) => {
          await journal.createConversation({ ...row, ownerId: "somebody else" });
          return await journal.createClaimed(row, first);
        },
      }),
  });
  const id = "44444444-0000-4000-8000-000000000003";
  const body = server.startRequest({ conversation_id: id, text: "hi" });
  expect((await server.call("POST", "/api/conversations", body)).status).toBe(404);
  expect(server.model.requests).toEqual([]);
});

test("P55: additions of a launch to the system message come after the agent's own text", async () => {
  const { agent, ...start } = shared.startRequest();
  for (const [system_message_suffix, expected] of [
    ["Be brief.", "Be brief.\n\nAnswer in rhymes."],
    [null, "Answer in rhymes."],
  ] as const) {
    const reply = await shared.call("POST", "/api/conversations", {
      ...start,
      agent: { ...agent, agent_context: { system_message_suffix } },
      agent_launch_additions: { system_message_suffix_append: "Answer in rhymes." },
      worktree: false,
    });
    expect([reply.status, reply.json]).toMatchObject([
      201,
      { agent: { agent_context: { system_message_suffix: expected } } },
    ]);
  }
});

test("P18: one id, created twenty times at once: one 201, one message, one run", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
  const body = server.startRequest({ conversation_id: "11111111-0000-4000-8000-000000000001", text: "hi" });
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => server.call("POST", "/api/conversations", body)),
  );
  expect(countByStatus(replies)).toEqual({ 200: 19, 201: 1 });
  await server.waitForStatus(body.conversation_id!, "finished");
  expect(await server.client.countEvents(body.conversation_id!, { kind: "MessageEvent" })).toBe(2);
  expect(server.model.requests).toHaveLength(1);
});

test("one id with different first messages at once: one of them stands, nobody gets an error", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
  const id = "22222222-0000-4000-8000-000000000001";
  const replies = await Promise.all(
    ["a", "b", "c", "d"].map((text) =>
      server.call("POST", "/api/conversations", server.startRequest({ conversation_id: id, text })),
    ),
  );
  expect(countByStatus(replies)).toEqual({ 200: 3, 201: 1 });
  expect(await server.client.countEvents(id, { kind: "MessageEvent", source: "user" })).toBe(1);
});

test("W31: modules of a client's tools are returned to attaching clients, for the agent's own tools; none is loaded", async () => {
  const body = shared.startRequest();
  const created = await shared.call("POST", "/api/conversations", {
    ...body,
    agent: { ...body.agent, tools: [{ name: "terminal" }] },
    tool_module_qualnames: { terminal: "client.tools.terminal", other: "client.tools.other" },
  });
  expect(created.status).toBe(201);
  const { id } = created.json as { id: string };
  const { json } = await shared.call("GET", `/api/conversations/${id}`);
  expect(json).toMatchObject({ tool_module_qualnames: { terminal: "client.tools.terminal" } });
  expect(JSON.stringify(json)).not.toContain("client.tools.other");

  const foreign = await shared.call("POST", "/api/conversations", {
    ...body,
    agent: { ...body.agent, tools: [{ name: "magic" }] },
    tool_module_qualnames: { magic: "os" },
  });
  expect(foreign.status).toBe(201);
  expect(foreign.json).toMatchObject({ tool_module_qualnames: { magic: "os" } });
});

test("a working directory that cannot be made is refused by name", async () => {
  const { agent } = shared.startRequest();
  for (const working_dir of ["/dev/null/x", "a\u0000b"]) {
    const bad = await shared.call("POST", "/api/conversations", {
      agent,
      workspace: { kind: "LocalWorkspace", working_dir },
    });
    expect(bad.status).toBe(422);
    expect(bad.json).toMatchObject({ detail: [{ loc: ["body", "workspace", "working_dir"] }] });
  }
});

function countByStatus(replies: readonly { readonly status: number }[]): Record<number, number> {
  const groups = Map.groupBy(replies, ({ status }) => status);
  return Object.fromEntries([...groups].map(([status, group]) => [status, group.length]));
}

test("P55: a model's field of a wrong type is refused where it is given, and what is stored stays", async () => {
  const before = (await shared.call("GET", "/api/settings")).json;
  for (const [name, value, type] of [
    ["model", 5, "string_type"],
    ["timeout", "soon", "int_type"],
    ["temperature", -1, "greater_than_equal"],
    ["stream", "yes", "bool_type"],
  ] as const) {
    const llm = { model: "openai/m", [name]: value };
    for (const [method, path, body, loc] of [
      ["POST", "/api/profiles/wrong", { llm }, ["llm", name]],
      ["POST", "/api/v1/settings/profiles/wrong", { llm }, ["llm", name]],
      ["POST", "/api/v1/settings", { agent_settings: { llm } }, ["agent_settings", "llm", name]],
      ["PATCH", "/api/settings", { agent_settings_diff: { llm } }, ["agent_settings_diff", "llm", name]],
    ] as const) {
      const { status, json } = await shared.call(method, path, body);
      expect([path, name, status, json]).toMatchObject([
        path,
        name,
        422,
        { detail: [{ loc: ["body", ...loc], type }] },
      ]);
    }
  }
  expect((await shared.call("GET", "/api/settings")).json).toEqual(before);
  expect((await shared.call("GET", "/api/profiles")).text).not.toContain("wrong");
});

test("P55: a model's address that is none is refused where it is given, on every route that takes one", async () => {
  const { id } = await shared.createConversation();
  const llm = { model: "openai/m", base_url: "no address" };
  for (const [method, path, body, loc] of [
    ["POST", `/api/conversations/${id}/switch_llm`, { llm }, ["llm", "base_url"]],
    ["POST", `/api/conversations/${id}/generate_title`, { llm }, ["llm", "base_url"]],
    ["POST", "/api/profiles/wrong", { llm }, ["llm", "base_url"]],
    ["POST", "/api/v1/settings/profiles/wrong", { llm }, ["llm", "base_url"]],
    ["POST", "/api/v1/settings", { llm_base_url: "no address" }, ["llm_base_url"]],
    ["PATCH", "/api/settings", { agent_settings_diff: { llm } }, ["agent_settings_diff", "llm", "base_url"]],
  ] as const) {
    const reply = await shared.call(method, path, body);
    expect([path, reply.status, reply.json]).toMatchObject([
      path,
      422,
      { detail: [{ loc: ["body", ...loc] }] },
    ]);
  }
});
