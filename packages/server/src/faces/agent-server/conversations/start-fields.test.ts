import { describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { until } from "../../../testing/until.ts";

const titled = {
  turns: [{ match: { last_user_contains: "<message>" }, text: "Counting sheep" }, { text: "Counted." }],
  loop: true,
};

async function storeModel(server: TestServer, name: string, model: string): Promise<void> {
  const { llm } = server.startRequest().agent;
  const saved = await server.call("POST", `/api/profiles/${name}`, {
    llm: { ...llm, model },
    include_secrets: true,
  });
  expect(saved.status, saved.text).toBe(201);
}

/** Which model wrote the title of a new conversation. */
async function titleModel(server: TestServer, fields: object): Promise<unknown> {
  const before = server.model.requests.length;
  const id = await server.runTo("finished", "Count the sheep.", { autotitle: true, ...fields });
  await until(async () => (await server.client.getConversation(id)).title === "Counting sheep");
  const asked = server.model.requests.slice(before).find(({ text }) => text.includes("<message>"));
  return asked?.body["model"];
}

describe("title_llm_profile", () => {
  test("a stored model writes the title: the one that is named, else that of the settings, else the agent's", async () => {
    await using server = await startTestServer({ script: titled });
    await storeModel(server, "small", "openai/small");
    await storeModel(server, "tiny", "openai/tiny");
    expect(await titleModel(server, {})).toBe("scripted");
    expect(await titleModel(server, { title_llm_profile: "small" })).toBe("small");
    const set = await server.call("POST", "/api/settings", { title_llm_profile: "tiny" });
    expect(set.status, set.text).toBe(200);
    expect(await titleModel(server, {})).toBe("tiny");
    expect(await titleModel(server, { title_llm_profile: "small" })).toBe("small");
    await server.call("DELETE", "/api/profiles/tiny");
    expect(await titleModel(server, {})).toBe("scripted");
  });

  test("P55: a name that is not stored is refused; one that is deleted later leaves the title to the agent's model", async () => {
    await using server = await startTestServer({ script: titled });
    const start = { ...server.startRequest(), autotitle: true };
    const refused = await server.call("POST", "/api/conversations", { ...start, title_llm_profile: "gone" });
    expect(refused).toMatchObject({
      status: 422,
      json: { detail: [{ loc: ["body", "title_llm_profile"] }] },
    });
    await storeModel(server, "small", "openai/small");
    const { id } = await server.createConversation({ autotitle: true, title_llm_profile: "small" });
    await server.call("DELETE", "/api/profiles/small");
    await server.client.sendMessage(id, { content: [{ type: "text", text: "Count the sheep." }], run: true });
    await until(async () => (await server.client.getConversation(id)).title === "Counting sheep");
    expect(server.model.requests.map(({ body }) => body["model"])).not.toContain("small");
    expect(server.log.map(({ fields }) => fields)).toContainEqual(
      expect.objectContaining({ conversation: id, profile: "small" }),
    );
  });
});

describe("agent_definitions", () => {
  const poet = {
    name: "poet",
    description: "Writes verses.",
    system_prompt: "You answer in verses, and rhyme.",
    tools: ["terminal"],
  };

  test("a sub-agent that comes with a conversation works for it, before one of the same name elsewhere", async () => {
    const parent = { match: { last_user_contains: "A poem, please." } };
    await using server = await startTestServer({
      script: {
        turns: [
          {
            ...parent,
            tool_calls: [
              { name: "task", arguments: { prompt: "Write of the sea.", subagent_type: "bash-runner" } },
            ],
          },
          { ...parent, text: "There it is." },
          { match: { last_user_contains: "Write of the sea." }, text: "The sea, the sea." },
        ],
      },
    });
    const agent = { ...server.startRequest().agent, tools: [{ name: "task_tool_set" }] };
    const id = await server.runTo("finished", "A poem, please.", {
      agent,
      agent_definitions: [poet, { ...poet, name: "bash-runner" }],
    });
    const first = server.model.requests.find(({ text }) => text.includes("A poem, please."));
    expect(first?.text).toContain("Writes verses.");
    const child = server.model.requests.find(
      ({ text }) => text.includes("Write of the sea.") && text !== first?.text,
    );
    expect(child?.text).toContain("You answer in verses, and rhyme.");
    const tasks = (await server.events(id)).filter((event) => event.kind === "ObservationEvent");
    expect(JSON.stringify(tasks)).toContain("The sea, the sea.");
  });

  test("P55: unsupported values, and values that are no sub-agent, are refused by their field", async () => {
    await using server = await startTestServer();
    for (const [definitions, index, field] of [
      [[{ ...poet, hooks: { before: [] } }], 0, "hooks"],
      [[{ ...poet, profile_store_dir: "/profiles", model: "small" }], 0, "profile_store_dir"],
      [[{ ...poet, permission_mode: "ask" }], 0, "permission_mode"],
      [[{ ...poet, name: " " }], 0, "name"],
      [[{ ...poet, name: "" }], 0, "name"],
      [[{ ...poet, max_iteration_per_run: 0 }], 0, "max_iteration_per_run"],
      [[poet, poet], 1, "name"],
    ] as const) {
      const request = { ...server.startRequest(), agent_definitions: definitions };
      const { status, json, text } = await server.call("POST", "/api/conversations", request);
      expect(status, text).toBe(422);
      const { detail } = json as { detail: { loc: unknown[] }[] };
      expect(detail[0]!.loc.slice(0, 4)).toEqual(["body", "agent_definitions", index, field]);
    }
  });
});

describe("expressions of a request", () => {
  const endless = `${String.raw`(\w*)`.repeat(150)}!`;
  const tools = [{ name: "terminal" }, { name: "file_editor" }, { name: "task_tracker" }];

  test("security 3: filter_tools_regex is refused by its field when it would never end", async () => {
    await using server = await startTestServer({ script: titled });
    const create = async (filter: string): Promise<{ status: number; json: unknown }> => {
      const { agent, ...request } = server.startRequest();
      const asked = { ...agent, tools, filter_tools_regex: filter };
      return await server.call("POST", "/api/conversations", { ...request, agent: asked });
    };
    for (const filter of ["(", `(?=t)${endless}`, "a".repeat(1_001)]) {
      expect(await create(filter)).toMatchObject({
        status: 422,
        json: { detail: [{ loc: ["body", "agent", "filter_tools_regex"] }] },
      });
    }
    // Linear where it can be, and the filter that the official SDK's default agent sends.
    for (const filter of [endless, "^(?!repomix)(.*)|^repomix.*pack_codebase.*$"]) {
      expect(await create(filter)).toMatchObject({ status: 201 });
    }
  });

  test("security 1: a matcher that looks ahead is refused by its field, and an endless one ends", async () => {
    await using server = await startTestServer({ script: titled });
    const hooks = (matcher: string): object => ({
      hook_config: { pre_tool_use: [{ matcher, hooks: [{ command: "true" }] }] },
    });
    const refused = await server.call("POST", "/api/conversations", {
      ...server.startRequest(),
      ...hooks("(?!x)terminal"),
    });
    expect(refused).toMatchObject({
      status: 422,
      json: { detail: [{ loc: ["body", "hook_config", "pre_tool_use", 0, "matcher"] }] },
    });
    expect(refused.text).toContain("Lookaheads");
    const taken = await server.createConversation(hooks(`/${endless}/`));
    expect(taken.id).toBeTruthy();
  });
});

test("P55, security 38: the start values of a conversation are returned by it, also after a restart", async () => {
  await using server = await startTestServer({ script: { turns: [] } });
  const given = {
    autotitle: false,
    max_budget_per_task: 1.5,
    approval_policy: { timeout_seconds: 60, on_timeout: "reject" as const },
    agent_definitions: [
      { name: "reader", description: "Reads.", tools: ["file_editor"], system_prompt: "Read." },
    ],
    agent_launch_additions: { system_message_suffix_append: "Be brief." },
  };
  const { id, ...created } = await server.createConversation(given);
  expect(created).toMatchObject(given);
  await server.call("POST", `/api/conversations/${id}/limits`, { max_budget_per_task: 3 });
  await server.restart();
  const changed = { ...given, max_budget_per_task: 3 };
  expect(await server.client.getConversation(id)).toMatchObject(changed);
  expect((await server.client.searchConversations()).items[0]).toMatchObject(changed);
  const { id: plain } = await server.createConversation();
  expect(Object.keys(await server.client.getConversation(plain))).not.toEqual(
    expect.arrayContaining(["autotitle"]),
  );
});
