import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Action, ConfirmationPolicy, ConversationInfo, NetworkPolicy } from "@convoke/protocol";
import { expect, test } from "vitest";
import { MemoryWalls } from "../../testing/memory-walls.ts";
import { createQuickTools } from "../../testing/quick-tools.ts";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { toolPlace } from "../../testing/tool-place.ts";
import { openNetworkTool } from "./network-source.ts";

const hosts = ["files.example.com", "*.corp.example:8443"];
const asked = {
  tool_calls: [{ name: "request_network", arguments: { hosts, reason: "The data is there." } }],
};
const misspelled = {
  name: "request_network",
  arguments: { hosts: ["https://a.example"], reason: "The data is there." },
};
const task = { name: "task", arguments: { prompt: "Count.", subagent_type: "code-explorer" } };

async function openWalled(network: NetworkPolicy = "registries", machineUsers = ["local"]) {
  await using scope = new AsyncDisposableStack();
  const folder = scope.use(await mkdtempDisposable(join(tmpdir(), "convoke-walls-")));
  const walls = new MemoryWalls({ tools: createQuickTools().tools, stateDir: folder.path });
  const server = scope.use(
    await startTestServer({
      script: {
        turns: [
          { match: { last_user_contains: "ask" }, ...asked },
          { match: { last_user_contains: "misspell" }, tool_calls: [misspelled] },
          { match: { last_user_contains: "Count." }, text: "41" },
          { match: { last_user_contains: "delegate" }, tool_calls: [task] },
          { text: "Done." },
        ],
      },
      openWalls: async () => walls,
      config: {
        wall: {
          kind: "auto",
          network,
          limits: { memoryMb: null, cpus: null, pids: 8_192 },
          homes: { maxMb: 4_096, maxUnusedDays: 30 },
          maxRunning: null,
        },
        machineUsers,
      },
    }),
  );
  const owned = scope.move();
  return { server, walls, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function answer(server: TestServer, id: string, accept: boolean, scope?: string): Promise<void> {
  const events = await server.events(id);
  const action = events.findLast(({ kind }) => kind === "ActionEvent")!;
  const answers = [{ action_id: action.id, accept, ...(scope === undefined ? {} : { scope }) }];
  const reply = await server.call("POST", `/api/conversations/${id}/approvals`, { answers });
  expect(reply.status, reply.text).toBeLessThan(300);
  await server.waitForStatus(id, "finished");
}

const offered = (server: TestServer): string[] =>
  (server.model.requests.at(-1)!.body["tools"] as { function: { name: string } }[]).map(
    (tool) => tool.function.name,
  );

const policies: ConfirmationPolicy[] = [
  { kind: "NeverConfirm" },
  { kind: "AlwaysConfirm" },
  { kind: "ConfirmRisky", threshold: "HIGH", confirm_unknown: false },
];

test.each(policies)(
  "under $kind it waits for the person, and what is approved is granted",
  async (policy) => {
    await using opened = await openWalled();
    const { server, walls } = opened;
    const id = await server.runTo("waiting_for_confirmation", "ask", { confirmation_policy: policy });
    expect(walls.orderOf(id)).toMatchObject({ network: "registries", limitedBy: [], granted: [] });
    const waiting = (await server.call("GET", `/api/conversations/${id}/approvals`)).json;
    expect(waiting).toMatchObject({ items: [{ tool_name: "request_network", wall: walls.kind }] });
    await answer(server, id, true);
    expect(walls.orderOf(id)?.granted).toEqual(hosts);
    const events = await server.eventTexts(id);
    expect(events.find((text) => text.includes("ObservationEvent"))).toContain(
      "This conversation may now reach files.example.com, *.corp.example:8443.",
    );
  },
);

test("what is refused is not granted", async () => {
  await using opened = await openWalled();
  const { server, walls } = opened;
  const id = await server.runTo("waiting_for_confirmation", "ask");
  const body = { accept: false, reason: "No." };
  await server.call("POST", `/api/conversations/${id}/events/respond_to_confirmation`, body);
  await server.waitForStatus(id, "idle");
  expect((await server.client.getConversation(id)).wall?.granted).toBeUndefined();
  expect(walls.orderOf(id)?.granted).toEqual([]);
});

test("grants outlive the server, and a fork has them", async () => {
  await using opened = await openWalled();
  const { server, walls } = opened;
  const id = await server.runTo("waiting_for_confirmation", "ask");
  await answer(server, id, true);
  await server.restart();
  expect((await server.client.getConversation(id)).wall).toMatchObject({
    network: "registries",
    granted: hosts,
  });
  const fork = (await server.call("POST", `/api/conversations/${id}/fork`, {})).json as ConversationInfo;
  expect(fork.wall?.granted).toEqual(hosts);
  await server.client.sendMessage(fork.id, { content: [{ type: "text", text: "go on" }], run: true });
  await server.waitForStatus(fork.id, "finished");
  expect(walls.orderOf(fork.id)?.granted).toEqual(hosts);
});

test("rules decide before the person does", async () => {
  await using opened = await openWalled();
  const { server, walls } = opened;
  const rule = (effect: string, host: string) => ({ effect, tool: "request_network", host });
  const allow = [rule("allow", "files.example.com"), rule("allow", "*.corp.example")];
  const put = async (rules: object[]): Promise<string> => {
    const { id } = await server.createConversation();
    const reply = await server.call("PUT", `/api/conversations/${id}/allow_rules`, { rules });
    expect(reply.status, reply.text).toBeLessThan(300);
    await server.client.sendMessage(id, { content: [{ type: "text", text: "ask" }], run: true });
    return id;
  };
  const allowed = await put(allow);
  await server.waitForStatus(allowed, "finished");
  expect(walls.orderOf(allowed)?.granted).toEqual(hosts);
  const partly = await put(allow.slice(1));
  await server.waitForStatus(partly, "waiting_for_confirmation");
  expect(walls.orderOf(partly)?.granted).toEqual([]);
});

test("a rule for the user is made of the hosts that were asked for", async () => {
  await using opened = await openWalled();
  const { server, walls } = opened;
  await answer(server, await server.runTo("waiting_for_confirmation", "ask"), true, "rule");
  const next = await server.runTo("finished", "ask");
  expect(walls.orderOf(next)?.granted).toEqual(hosts);
  expect((await server.call("GET", "/api/rules")).json).toMatchObject({
    rules: hosts.map((host) => ({ effect: "allow", tool: "request_network", host })),
  });
});

const places: readonly [name: string, network: NetworkPolicy, machineUsers: string[], isOffered: boolean][] =
  [
    ["registries", "registries", ["local"], true],
    ["rules", { allow: ["a.example"] }, ["local"], true],
    ["none", "none", ["local"], false],
    ["all", "all", ["local"], false],
    ["the server's own policy for a user whom it bounds", "registries", [], false],
  ];

test.each(places)("with %s it is offered as far as it can help", async (_name, network, users, isOffered) => {
  await using opened = await openWalled(network, users);
  await opened.server.runTo("finished", "go");
  expect(offered(opened.server).includes("request_network")).toBe(isOffered);
});

test("a sub-agent cannot ask", async () => {
  await using opened = await openWalled();
  const { server } = opened;
  const { agent } = server.startRequest();
  const tools = [{ name: "terminal" }, { name: "task_tool_set" }];
  await server.runTo("finished", "delegate", { agent: { ...agent, tools } });
  const all = server.model.requests.map(({ body }) => JSON.stringify(body));
  const ofChild = all.filter((text) => text.includes("Count.") && !text.includes('"delegate"'));
  expect(ofChild.length).toBeGreaterThan(0);
  expect(ofChild.filter((text) => text.includes("request_network"))).toEqual([]);
});

test("a bounded user can widen a closer policy up to the server's", async () => {
  await using opened = await openWalled({ allow: ["*.example.com"] }, []);
  const { server, walls } = opened;
  const id = await server.runTo("waiting_for_confirmation", "ask", { wall: { network: { allow: [] } } });
  await answer(server, id, true);
  expect(walls.orderOf(id)).toMatchObject({
    limitedBy: [{ source: "server", policy: { allow: ["*.example.com"] } }],
    granted: hosts,
  });
});

test("a start request cannot grant", async () => {
  await using opened = await openWalled();
  const reply = await opened.server.call("POST", "/api/conversations", {
    ...opened.server.startRequest(),
    wall: { granted: hosts },
  });
  expect(reply.status).toBe(422);
  expect(reply.text).toContain("granted");
});

const wrong: readonly [data: Record<string, unknown>, text: string][] = [
  [{ hosts: [], reason: "x" }, "hosts: Give a list of 1 to 20 hosts."],
  [{ hosts: ["a.example"], reason: " " }, "reason: Give the person a sentence"],
  [{ hosts: ["*"], reason: "x" }, "hosts.0: Name the hosts that are needed, not all of them."],
  [
    { hosts: ["a.example", "https://b.example/x", "c.example:99999", 5], reason: "x" },
    'Nothing was granted. hosts.1: Write a host without scheme and path, not "https://b.example/x". hosts.2: Write a port from 1 to 65535, not "99999". hosts.3: Give a text',
  ],
];

test("a wrong host is told to the agent before anybody is asked", async () => {
  await using opened = await openWalled();
  const { server, walls } = opened;
  const id = await server.runTo("finished", "misspell");
  expect(walls.orderOf(id)?.granted).toEqual([]);
  const errors = (await server.events(id)).filter(({ kind }) => kind === "AgentErrorEvent");
  expect(errors).toMatchObject([
    {
      error: expect.stringContaining(
        'hosts.0: Write a host without scheme and path, not "https://a.example".',
      ),
    },
  ]);
});

test.each(wrong)("for %j the agent reads what is wrong", async (data, text) => {
  const access = { canWiden: () => true, apply: async () => {} };
  const source = (await openNetworkTool(access)(toolPlace({ folder: tmpdir() })))!;
  const action: Action = { kind: "MCPToolAction", data };
  const outcome = await source.execute({ actionId: "a", tool: "request_network", action, secrets: [] });
  expect(outcome).toMatchObject({ type: "error", text: expect.stringContaining(text) as string });
});

test("a person grants hosts without being asked, and sees what was granted", async () => {
  await using opened = await openWalled();
  const { server, walls } = opened;
  const id = await server.runTo("finished", "hello");
  const path = `/api/conversations/${id}/network`;
  expect((await server.call("GET", path)).json).toEqual({ hosts: [], granted: [], can_grant: true });
  const granted = await server.call("POST", `${path}/grants`, { hosts: ["a.example", "b.example:8443"] });
  expect([granted.status, granted.json]).toMatchObject([200, { granted: ["a.example", "b.example:8443"] }]);
  expect(walls.orderOf(id)).toMatchObject({ granted: ["a.example", "b.example:8443"] });
  for (const host of ["https://a.example", "*"]) {
    const refused = await server.call("POST", `${path}/grants`, { hosts: ["c.example", host] });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('"hosts",1')]);
  }
  expect((await server.call("GET", path)).json).toMatchObject({ granted: ["a.example", "b.example:8443"] });
});

test("where no answer could widen the network, a person cannot grant hosts either", async () => {
  await using opened = await openWalled("none");
  const id = await opened.server.runTo("finished", "hello");
  const path = `/api/conversations/${id}/network`;
  expect((await opened.server.call("GET", path)).json).toMatchObject({ can_grant: false });
  const refused = await opened.server.call("POST", `${path}/grants`, { hosts: ["a.example"] });
  expect([refused.status, refused.json]).toMatchObject([409, { code: "network_fixed" }]);
});
