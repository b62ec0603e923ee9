import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

let server: TestServer;
let id: string;
beforeAll(async () => {
  server = await startTestServer({ script: { turns: [{ text: "Done." }], loop: true } });
  ({ id } = await server.createConversation());
});
afterAll(() => server[Symbol.asyncDispose]());

const rule = { tool_name: "terminal", arguments: { command: "rm*" } };
const lists = { kind: "PatternSecurityAnalyzer", high_paterns: [["deploy", "deploys"]] };

/** What is sent, and the field that must be named. */
const changes: readonly [method: string, path: string, body: object, field: string][] = [
  ["PUT", "allow_rules", { rules: [{ ...rule, effect: "deny" }] }, "effect"],
  ["PUT", "allow_rules", { rules: [{ ...rule, deny: true }] }, "deny"],
  ["PUT", "allow_rules", { rules: [rule], default: "deny" }, "default"],
  ["POST", "allow_rules/dry_run", { rules: [{ ...rule, effect: "deny" }] }, "effect"],
  ["PUT", "allow_rules", { rules: [{ ...rule, tool: "terminal" }] }, "tool"],
  ["PUT", "allow_rules", { rules: [{ tool: "terminal", effect: "never" }] }, "effect"],
  ["PUT", "allow_rules", { rules: [{ tool: "terminal" }] }, "effect"],
  ["PUT", "allow_rules", { rules: [{ effect: "deny", command: ["rm"] }] }, "tool"],
  ["PUT", "allow_rules", { rules: [{ effect: "deny", tool: "terminal", comand: ["rm"] }] }, "comand"],
  ["PUT", "allow_rules", { rules: [{ effect: "deny", tool: "terminal", command: ["rm x"] }] }, "command"],
  ["PUT", "/api/rules", { rules: [{ effect: "deny", tool: "terminal", comand: ["rm"] }] }, "comand"],
  ["PUT", "/api/rules", { rules: [{ effect: "deny", tool: "terminal", path: "x" }] }, "path"],
  ["PUT", "/api/rules", { rules: [{ effect: "deny", tool: "x", up_to: "LOW" }] }, "up_to"],
  ["PUT", "/api/rules", { rules: [{ tool_name: "terminal", effect: "allow" }] }, "tool_name"],
  ["PUT", "/api/rules", { rules: [], rule: [] }, "rule"],
  ["POST", "/api/rules/try", { comand: "x" }, "comand"],
  ["POST", "approvals", { answers: [{ action_id: "a", accept: true, scope: "always" }] }, "scope"],
  ["POST", "approvals", { answers: [{ action_id: "a", accept: false, scope: "rule" }] }, "rule"],
  [
    "POST",
    "approvals",
    { answers: [{ action_id: "a", accept: true, rule: { effect: "allow", tool: "x" } }] },
    "scope",
  ],
  [
    "POST",
    "approvals",
    { answers: [{ action_id: "a", accept: true, scope: "rule", rule: { effect: "deny", tool: "x" } }] },
    "effect",
  ],
  ["POST", "approvals", { answers: [{ action_id: "a", accept: true, only_if: "x" }] }, "only_if"],
  ["POST", "approvals", { answers: [{ action_id: "a", accept: true }], dry_run: true }, "dry_run"],
  ["POST", "approval_policy", { policy: null, timeout_seconds: 5 }, "timeout_seconds"],
  [
    "POST",
    "approval_policy",
    { policy: { timeout_seconds: 5, on_timeout: "accept", except: ["rm*"] } },
    "except",
  ],
  ["POST", "limits", { max_iteration: 3 }, "max_iteration"],
  ["POST", "limits", { max_budget: 3 }, "max_budget"],
  ["PUT", "/api/spend/limits", { max_budget_per_day: 5, hard: true }, "hard"],
  ["POST", "goal", { objective: "x", max_iteration: 1 }, "max_iteration"],
  ["POST", "plan/approve", { tools: [] }, "tools"],
  ["POST", "events/respond_to_confirmation", { accept: true, action_ids: ["a"] }, "action_ids"],
  ["POST", "confirmation_policy", { policy: { kind: "AlwaysConfirm" }, tools: ["rm"] }, "tools"],
  [
    "POST",
    "confirmation_policy",
    { policy: { kind: "ConfirmRisky", confirm_unkown: true } },
    "confirm_unkown",
  ],
  ["POST", "confirmation_policy", { policy: { kind: "NeverConfirm", except: ["rm"] } }, "except"],
  ["POST", "security_analyzer", { security_analyzer: lists }, "high_paterns"],
  ["POST", "security_analyzer", { security_analyzer: null, analyzer: lists }, "analyzer"],
  [
    "POST",
    "security_analyzer",
    { security_analyzer: { kind: "LLMSecurityAnalyzer", floor: "HIGH" } },
    "floor",
  ],
  [
    "POST",
    "security_analyzer",
    { security_analyzer: { kind: "EnsembleSecurityAnalyzer", analyzers: [lists] } },
    "high_paterns",
  ],
  ["POST", "secrets", { secrets: { A: { kind: "StaticSecret", value: "x", host: "a" } } }, "host"],
  ["POST", "secrets", { secrets: { A: { value: "x", host: "a" } } }, "host"],
  ["POST", "/api/keys", { label: "x", scopes: ["read"] }, "scopes"],
  ["POST", "/api/keys", { label: "x", expires: "2030-01-01T00:00:00Z" }, "expires"],
];

test.each(changes)("audit F4: %s %s refuses %j and names the field", async (method, path, body, field) => {
  const target = path.startsWith("/") ? path : `/api/conversations/${id}/${path}`;
  const answer = await server.call(method, target, body);
  expect(answer.status, answer.text).toBe(422);
  const { detail } = answer.json as { detail: { loc: unknown[] }[] };
  expect(detail.map(({ loc }) => loc.at(-1))).toContain(field);
});

const guard = { command: "true" };
const starts: readonly [body: object, field: string][] = [
  [{ confirmation_policy: { kind: "ConfirmRisky", treshold: "LOW" } }, "treshold"],
  [{ security_analyzer: lists }, "high_paterns"],
  [{ approval_policy: { timeout_seconds: 5, on_timeout: "reject", extra: 1 } }, "extra"],
  [{ hook_config: { pre_tool_use: [{ matchers: "terminal", hooks: [guard] }] } }, "matchers"],
  [{ hook_config: { pre_tool_use: [{ hooks: [{ ...guard, on_fail: "deny" }] }] } }, "on_fail"],
  [{ hook_config: { PreToolUse: [{ hooks: [{ ...guard, if: "Bash(rm*)" }] }] } }, "if"],
  [{ hook_config: { hooks: { stop: [{ hooks: [{ ...guard, once: true }] }] } } }, "once"],
  [
    {
      agent_definitions: [
        { name: "a", hooks: { pre_tool_use: [{ hooks: [{ ...guard, on_fail: "deny" }] }] } },
      ],
    },
    "on_fail",
  ],
];

test.each(starts)("audit F4: a conversation with %j is refused by the field", async (body, field) => {
  const answer = await server.call("POST", "/api/conversations", { ...server.startRequest(), ...body });
  expect(answer.status, answer.text).toBe(422);
  const { detail } = answer.json as { detail: { loc: unknown[] }[] };
  expect(detail.map(({ loc }) => loc.at(-1))).toContain(field);
});

test("audit F4: a rule that says that it allows is one that allows", async () => {
  const path = `/api/conversations/${id}/allow_rules`;
  const set = await server.call("PUT", path, { rules: [{ ...rule, effect: "allow" }] });
  expect(set.status, set.text).toBe(200);
  expect((await server.call("GET", path)).json).toEqual({ rules: [rule] });
  const denied = await server.call("PUT", path, { rules: [{ ...rule, effect: "deny" }] });
  expect(denied.text).toContain("Rules with tool_name only allow");
  expect((await server.call("GET", path)).json).toEqual({ rules: [rule] });
});

test("hardening 2: secrets have a limit each and together, told with the field, also those that are added", async () => {
  const start = (secrets: object) =>
    server.call("POST", "/api/conversations", { ...server.startRequest(), secrets });
  const tooLong = await start({ A: "x".repeat(65_537) });
  expect(tooLong).toMatchObject({
    status: 422,
    json: { detail: [{ loc: ["body", "secrets", "A", "value"] }] },
  });
  const many = (count: number, prefix: string) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`${prefix}${at}`, `${at}-${"x".repeat(60_000)}`]),
    );
  expect(await start(many(5, "A"))).toMatchObject({
    status: 422,
    json: { detail: [{ loc: ["body", "secrets"] }] },
  });
  const made = await start(many(3, "A"));
  expect(made.status, made.text).toBe(201);
  const { id: other } = made.json as { id: string };
  const add = (count: number) =>
    server.call("POST", `/api/conversations/${other}/secrets`, { secrets: many(count, "B") });
  expect((await add(2)).status).toBe(422);
  expect((await add(1)).status).toBe(200);
  const env = Object.fromEntries(Object.entries(many(20, "E")));
  const agent = {
    ...server.startRequest().agent,
    mcp_config: { mcpServers: { a: { command: "true", env } } },
  };
  const hidden = await server.call("POST", "/api/conversations", { ...server.startRequest(), agent });
  expect(hidden).toMatchObject({ status: 422, json: { detail: [{ loc: ["body", "agent"] }] } });
});
