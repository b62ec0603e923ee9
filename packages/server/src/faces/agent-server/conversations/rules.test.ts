import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Event, PendingApproval, Rule } from "@convoke/protocol";
import { expect, test } from "vitest";
import { readAudit } from "../../../testing/read-audit.ts";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const shell = (command: string) => ({ name: "terminal", arguments: { command } });
const always = { confirmation_policy: { kind: "AlwaysConfirm" as const } };
const never = { confirmation_policy: { kind: "NeverConfirm" as const } };

function rule(effect: Rule["effect"], ...command: string[]): Rule {
  return { effect, tool: "terminal", command };
}

const turns = (...commands: string[]) => ({
  turns: [...commands.map((command) => ({ tool_calls: [shell(command)] })), { text: "Done." }],
});

async function send(server: TestServer, id: string, text = "go"): Promise<void> {
  await server.client.sendMessage(id, { content: [{ type: "text", text }], run: true });
}

async function approvals(server: TestServer, id: string): Promise<PendingApproval[]> {
  const { json } = await server.call("GET", `/api/conversations/${id}/approvals`);
  return (json as { items: PendingApproval[] }).items;
}

function ofKind<Kind extends Event["kind"]>(log: readonly Event[], kind: Kind) {
  return log.filter((event): event is Extract<Event, { kind: Kind }> => event.kind === kind);
}

const project = async (server: TestServer, text: string): Promise<void> => {
  await mkdir(join(server.workspaceDir, ".convoke"), { recursive: true });
  await writeFile(join(server.workspaceDir, ".convoke", "rules.json"), text);
};

test("a call that a rule denies is never run: the model and all clients read the note, and the run goes on", async () => {
  await using server = await startTestServer({ script: turns("git push", "git status") });
  const denies = { ...rule("deny", "git", "push", "**"), note: "Ada pushes" };
  expect((await server.call("PUT", "/api/rules", { rules: [denies] })).status).toBe(200);
  const id = await server.runTo("finished", "go", never);
  expect(server.quickTools.started).toEqual(["git status"]);
  const log = await server.events(id);
  const [rejected, ...others] = ofKind(log, "UserRejectObservation");
  const [action] = ofKind(log, "ActionEvent");
  expect(others).toEqual([]);
  expect(rejected).toMatchObject({
    action_id: action!.id,
    tool_call_id: action!.tool_call_id,
    rejection_source: "hook",
    rejection_reason:
      "Not executed: a rule of the user denies terminal: git push **. Ada pushes. Do not try it in another way.",
  });
  expect(server.model.requests[1]!.text).toContain("Ada pushes");
});

test("a denied call beside others: these run, or wait, as without it", async () => {
  const both = [shell("git push"), shell("ls")];
  const script = { turns: [{ tool_calls: both }, { tool_calls: both }, { text: "Done." }] };
  await using server = await startTestServer({ script });
  await server.call("PUT", "/api/rules", { rules: [rule("deny", "git", "push")] });
  const { id } = await server.createConversation(always);
  await send(server, id);
  await server.waitForStatus(id, "waiting_for_confirmation");
  const waiting = await approvals(server, id);
  expect(waiting.map(({ action }) => action["command"])).toEqual(["ls"]);
  await server.call("POST", `/api/conversations/${id}/confirmation_policy`, {
    policy: { kind: "NeverConfirm" },
  });
  await server.client.respondToConfirmation(id, true);
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual(["ls", "ls"]);
  expect(ofKind(await server.events(id), "UserRejectObservation")).toHaveLength(2);
});

test("an ask waits where the policy never asks, says why, and survives a restart", async () => {
  await using server = await startTestServer({ script: turns("npm publish") });
  await server.call("PUT", "/api/rules", {
    rules: [{ ...rule("ask", "npm", "publish", "**"), note: "Check the version" }],
  });
  const id = await server.runTo("waiting_for_confirmation", "go", never);
  await server.restart();
  expect(await approvals(server, id)).toMatchObject([
    {
      reasons: ["a rule of the user asks about terminal: npm publish **: Check the version"],
      decided_by: { effect: "ask", source: "user", index: 0, rule: { command: ["npm", "publish", "**"] } },
      proposed_rules: [rule("allow", "npm", "publish", "**")],
      wall: "none",
    },
  ]);
});

test("allow rules of the user cover calls of all conversations until they are taken away", async () => {
  await using server = await startTestServer({ script: { ...turns("npm test"), loop: true } });
  const empty = { rules: [], version: 0, server_rules: [] };
  expect((await server.call("GET", "/api/rules")).json).toEqual(empty);
  const rules = [rule("allow", "npm", "test|run", "**")];
  const stored = await server.call("PUT", "/api/rules", { rules, version: 0 });
  expect(stored.json).toEqual({ rules, version: 1, server_rules: [] });
  const stale = await server.call("PUT", "/api/rules", { rules: [], version: 0 });
  expect(stale).toMatchObject({ status: 409, json: { code: "rules_changed" } });
  await server.restart();
  await server.runTo("finished", "go", always);
  await server.runTo("finished", "go", always);
  expect(server.quickTools.started).toEqual(["npm test", "npm test"]);
  await server.call("PUT", "/api/rules", { rules: [], version: 1 });
  await server.runTo("waiting_for_confirmation", "go", always);
});

test("rules of another user do not count", async () => {
  await using server = await startTestServer({ script: turns("npm test") });
  await using keys = await server.openKeys();
  const { key } = await keys.store.create("bob", "");
  const ofBob = { "X-Session-API-Key": key };
  await server.call("PUT", "/api/rules", { rules: [rule("allow", "npm", "**")] }, ofBob);
  await server.runTo("waiting_for_confirmation", "go", always);
  expect((await server.call("GET", "/api/rules")).json).toMatchObject({ rules: [] });
});

test("the server's file counts for everybody, and a wrong one keeps the server from starting", async () => {
  await using server = await startTestServer({ script: turns("git push") });
  const rulesFile = join(server.folder, "rules.json");
  await writeFile(rulesFile, JSON.stringify({ rules: [rule("deny", "git", "push", "**")] }));
  await server.restart({ rulesFile });
  await server.runTo("finished", "go", never);
  expect(server.quickTools.started).toEqual([]);
  expect((await server.call("GET", "/api/rules")).json).toMatchObject({ server_rules: [{ effect: "deny" }] });
  await writeFile(
    rulesFile,
    JSON.stringify({ rules: [rule("deny", "x"), { ...rule("deny", "x"), notes: "" }] }),
  );
  await expect(server.restart({ rulesFile })).rejects
    .toThrow(`The rules in ${rulesFile} (CONVOKE_RULES) cannot be used:
  rules.1.notes:`);
  await expect(server.restart({ rulesFile: join(server.folder, "none") })).rejects.toThrow("CONVOKE_RULES");
  await server.restart({ rulesFile: null });
});

test("a project denies and asks; what it would allow is refused with a warning, once", async () => {
  await using server = await startTestServer({ script: { ...turns("rm a", "ls"), loop: true } });
  await project(server, JSON.stringify({ rules: [rule("allow", "ls"), rule("deny", "rm", "**")] }));
  const { id } = await server.createConversation(never);
  await send(server, id);
  await server.waitForStatus(id, "finished");
  await send(server, id);
  await expect.poll(() => server.quickTools.started).toEqual(["ls", "ls"]);
  await server.waitForStatus(id, "finished");
  const log = await server.events(id);
  expect(ofKind(log, "UserRejectObservation")[0]).toMatchObject({
    rejection_reason:
      "Not executed: a rule of the project denies terminal: rm **. Do not try it in another way.",
  });
  const warnings = ofKind(log, "ConversationStateUpdateEvent").filter(({ key }) => key === "warning");
  expect(warnings.map(({ value }) => value)).toEqual([
    {
      code: "project_rules_refused",
      detail:
        ".convoke/rules.json of the project: rules.0.effect: A project may only ask and deny. Users can allow calls in rules of their own.",
    },
  ]);
  expect(server.log.filter(({ message }) => message === "a rule of the project was refused")).toHaveLength(2);
});

test("the project's file is read at the start of a run: a change in a run counts in the next", async () => {
  await using server = await startTestServer({ script: { ...turns("hold", "rm a"), loop: true } });
  await project(server, JSON.stringify({ rules: [rule("deny", "rm", "a")] }));
  const { id } = await server.createConversation(never);
  await send(server, id);
  await expect.poll(() => server.quickTools.started).toEqual(["hold"]);
  await project(server, JSON.stringify({ rules: [] }));
  server.quickTools.release();
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual(["hold"]);
  await send(server, id);
  await expect.poll(() => server.quickTools.started).toEqual(["hold", "hold", "rm a"]);
  await server.waitForStatus(id, "finished");
});

test("an answer for the conversation, and one as a rule, are stored as they were shown, with who and how", async () => {
  const script = { ...turns("git status -s", "npm test", "git status", "npm test x"), loop: true };
  await using server = await startTestServer({ script });
  const id = await server.runTo("waiting_for_confirmation", "go", always);
  const answer = async (given: object) => {
    const [{ action_id }] = (await approvals(server, id)) as [PendingApproval];
    const path = `/api/conversations/${id}/approvals`;
    return await server.call("POST", path, { answers: [{ action_id, accept: true, ...given }] });
  };
  const [first] = await approvals(server, id);
  expect(first!.proposed_rules).toEqual([rule("allow", "git", "status", "**")]);
  expect((await answer({ scope: "conversation" })).status).toBe(200);
  await expect.poll(async () => (await approvals(server, id))[0]?.action["command"]).toBe("npm test");
  await server.restart();
  const npm = rule("allow", "npm", "test", "**");
  expect((await answer({ scope: "rule", rule: npm })).status).toBe(200);
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual(["git status -s", "npm test", "git status", "npm test x"]);
  const own = await server.call("GET", `/api/conversations/${id}/allow_rules`);
  expect(own.json).toEqual({ rules: [rule("allow", "git", "status", "**")] });
  expect((await server.call("GET", "/api/rules")).json).toMatchObject({ rules: [npm], version: 1 });
  const forked = await server.call("POST", `/api/conversations/${id}/fork`, {});
  const ofFork = await server.call(
    "GET",
    `/api/conversations/${(forked.json as { id: string }).id}/allow_rules`,
  );
  expect(ofFork.json).toEqual(own.json);
  const recorded = ofKind(await server.events(id), "ConversationStateUpdateEvent").filter(
    ({ key }) => key === "approvals",
  );
  expect(recorded.map(({ value }) => value)).toMatchObject([
    {
      by: "user",
      user: "local",
      answers: [{ accept: true, scope: "conversation", rules: [first!.proposed_rules[0]] }],
    },
    { by: "user", user: "local", answers: [{ accept: true, scope: "rule", rules: [npm] }] },
  ]);
  await server.close();
  const { calls } = await readAudit(server.dataDir);
  expect(
    calls.filter(({ route }) => String(route).endsWith("/approvals")).flatMap(({ note }) => note ?? []),
  ).toMatchObject([
    { answers: [{ accept: true, scope: "conversation" }] },
    { answers: [{ accept: true, scope: "rule", rule: npm }] },
  ]);
});

test("a rejection can be a rule too; what cannot be read can only be answered once", async () => {
  await using server = await startTestServer({ script: turns("$x", "rm a", "rm b") });
  const id = await server.runTo("waiting_for_confirmation", "go", always);
  const answer = async (given: object) => {
    const [{ action_id }] = (await approvals(server, id)) as [PendingApproval];
    return await server.call("POST", `/api/conversations/${id}/approvals`, {
      answers: [{ action_id, ...given }],
    });
  };
  expect((await approvals(server, id))[0]!.proposed_rules).toEqual([]);
  const refused = await answer({ accept: true, scope: "rule" });
  expect(refused).toMatchObject({
    status: 422,
    json: { detail: [{ loc: ["body", "answers", 0, "scope"] }] },
  });
  expect((await answer({ accept: true })).status).toBe(200);
  await expect.poll(async () => (await approvals(server, id))[0]?.action["command"]).toBe("rm a");
  const denies = rule("deny", "rm", "**");
  expect((await answer({ accept: false, scope: "conversation", rule: denies })).status).toBe(200);
  await server.client.run(id);
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual(["$x"]);
  const reasons = ofKind(await server.events(id), "UserRejectObservation").map(
    (event) => event.rejection_reason,
  );
  expect(reasons).toEqual([
    "The user rejected this call.",
    "Not executed: a rule of this conversation denies terminal: rm **. Do not try it in another way.",
  ]);
});

test("a rule that gives a shell a path or a host is refused wherever it is written", async () => {
  await using server = await startTestServer({ script: turns("npm test") });
  const id = await server.runTo("waiting_for_confirmation", "go", always);
  const [{ action_id }] = (await approvals(server, id)) as [PendingApproval];
  const wrong = { effect: "deny", tool: "terminal", command: ["rm", "**"], path: "infra/**" };
  const answers = [{ action_id, accept: false, scope: "rule", rule: wrong }];
  const requests: [method: string, path: string, body: object, loc: (string | number)[]][] = [
    ["PUT", "/api/rules", { rules: [wrong] }, ["body", "rules", 0, "path"]],
    ["PUT", `/api/conversations/${id}/allow_rules`, { rules: [wrong] }, ["body", "rules", 0, "path"]],
    ["POST", `/api/conversations/${id}/approvals`, { answers }, ["body", "answers", 0, "rule", "path"]],
  ];
  for (const [method, path, body, loc] of requests) {
    const msg = "Which files a shell command uses is not known. Name its command instead.";
    expect(await server.call(method, path, body)).toMatchObject({
      status: 422,
      json: { detail: [{ loc, msg }] },
    });
  }
});

test("of two answers to one action one counts, and its rule is stored once", async () => {
  await using server = await startTestServer({ script: turns("npm test") });
  const id = await server.runTo("waiting_for_confirmation", "go", always);
  const [{ action_id }] = (await approvals(server, id)) as [PendingApproval];
  const answers = async (...given: object[]) =>
    await server.call("POST", `/api/conversations/${id}/approvals`, { answers: given });
  const accept = { action_id, accept: true, scope: "rule" };
  expect(await answers(accept, { action_id, accept: false })).toMatchObject({
    status: 422,
    json: { detail: [{ loc: ["body", "answers", 1, "action_id"] }] },
  });
  const both = await Promise.all([answers(accept), answers(accept)]);
  expect(both.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409]);
  expect(both.find(({ status }) => status === 409)?.json).toMatchObject({
    code: "approval_settled",
    detail: expect.stringContaining("was answered already") as string,
  });
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual(["npm test"]);
  expect((await server.call("GET", "/api/rules")).json).toMatchObject({
    rules: [rule("allow", "npm", "test", "**")],
    version: 1,
  });
});

test("a rule that is there is not stored again, in whatever order its fields are", async () => {
  const script = { turns: [{ tool_calls: [shell("npm test"), shell("npm test x")] }, { text: "Done." }] };
  await using server = await startTestServer({ script });
  const allow = rule("allow", "npm", "test", "**");
  const id = await server.runTo("waiting_for_confirmation", "go", always);
  const [first, second] = (await approvals(server, id)) as [PendingApproval, PendingApproval];
  const { effect, tool, command } = allow;
  const answers = [
    { action_id: first.action_id, accept: true, scope: "rule" },
    { action_id: second.action_id, accept: true, scope: "rule", rule: { command, tool, effect } },
  ];
  expect((await server.call("POST", `/api/conversations/${id}/approvals`, { answers })).status).toBe(200);
  expect((await server.call("GET", "/api/rules")).json).toMatchObject({ rules: [allow] });
});

test("one place has at most 500 rules, also by answers", async () => {
  await using server = await startTestServer({ script: turns("npm test") });
  const id = await server.runTo("waiting_for_confirmation", "go", always);
  const [{ action_id }] = (await approvals(server, id)) as [PendingApproval];
  const many = (count: number): Rule[] =>
    Array.from({ length: count }, (_, index) => rule("deny", "x", String(index)));
  const places: [path: string, scope: string][] = [
    ["/api/rules", "rule"],
    [`/api/conversations/${id}/allow_rules`, "conversation"],
  ];
  for (const [path, scope] of places) {
    expect((await server.call("PUT", path, { rules: many(501) })).status).toBe(422);
    expect((await server.call("PUT", path, { rules: many(500) })).status).toBe(200);
    const answers = [{ action_id, accept: true, scope }];
    expect(await server.call("POST", `/api/conversations/${id}/approvals`, { answers })).toMatchObject({
      status: 422,
      json: {
        detail: [
          {
            loc: ["body", "answers", 0, "scope"],
            msg: "There may be 500 rules in one place, and with this answer there would be 501. Remove some, or answer once.",
          },
        ],
      },
    });
    expect((await server.call("GET", path)).json).toMatchObject({ rules: many(500) });
  }
  const words = { rules: [rule("deny", ...Array.from({ length: 201 }, () => "x"))] };
  expect((await server.call("PUT", "/api/rules", words)).status).toBe(422);
  const forms = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`a${index}`, "x"]));
  const older = { rules: [{ tool_name: "x", arguments: forms }] };
  expect((await server.call("PUT", `/api/conversations/${id}/allow_rules`, older)).status).toBe(422);
  expect(await approvals(server, id)).toHaveLength(1);
});

test("a trial says which rule decides and how the command is read, with and without a conversation", async () => {
  await using server = await startTestServer({ script: turns("npm test") });
  await project(server, JSON.stringify({ rules: [rule("deny", "rm", "**"), rule("allow", "ls")] }));
  await server.call("PUT", "/api/rules", { rules: [rule("allow", "npm", "test", "**")] });
  const attempt = async (body: object) => (await server.call("POST", "/api/rules/try", body)).json;
  expect(await attempt({ command: "timeout 5 npm test" })).toEqual({
    effect: "allow",
    decided_by: { effect: "allow", source: "user", index: 0, rule: rule("allow", "npm", "test", "**") },
    reading: {
      parts: [
        { words: ["timeout", "5", "npm", "test"], inside: [], opaque: null },
        { words: ["npm", "test"], inside: ["timeout"], opaque: null },
      ],
      opaque: [],
    },
    problems: [],
  });
  expect(await attempt({ command: "npm test > $x" })).toMatchObject({
    effect: "policy",
    decided_by: null,
    reading: { opaque: ["which file it redirects to is only known when it runs"] },
  });
  const id = await server.runTo("finished", "go", always);
  expect(await attempt({ command: "sudo rm x", conversation_id: id })).toMatchObject({
    effect: "deny",
    decided_by: { source: "project", index: 0 },
    problems: [expect.stringContaining("rules.1.effect")],
  });
  expect(await attempt({ tool: "file_editor", path: "a" })).toMatchObject({
    effect: "policy",
    reading: null,
  });
  const unknown = { command: "x", conversation_id: "00000000-0000-4000-8000-000000000000" };
  expect((await server.call("POST", "/api/rules/try", unknown)).status).toBe(404);
  const trial = await server.call("POST", `/api/conversations/${id}/allow_rules/dry_run`, {
    rules: [rule("deny", "rm"), rule("ask", "npm", "**")],
  });
  expect(trial.json).toMatchObject({
    action_count: 1,
    matches: [
      { effect: "ask", rule_index: 1, was_asked: false, reading: { parts: [{ words: ["npm", "test"] }] } },
    ],
  });
});
