import { Type } from "typebox";
import { expect, test } from "vitest";
import { Action } from "./actions/action.ts";
import { Event } from "./events/event.ts";
import { Message } from "./message/message.ts";
import { StartConversationRequest } from "./requests/start-conversation.ts";
import { parseIncomingMessage } from "./requests/parse-incoming-message.ts";
import { SetConfirmationPolicyRequest, UpdateSecretsRequest } from "./requests/update-conversation.ts";
import { tolerateStartConversation, tolerateUpdateSecrets } from "./requests/tolerate.ts";
import { agentServerRoutes } from "./routes/agent-server-routes.ts";
import { createValidator, readQuery } from "./validate.ts";

const validator = createValidator();
const minimalStart = () => ({ agent: { llm: { model: "m" } }, workspace: { working_dir: "/w" } });

test("an unknown kind lists the known ones, a missing kind too", () => {
  const check = (policy: object) => validator.check(SetConfirmationPolicyRequest, { policy }, ["body"]);
  const names = "Use one of: AlwaysConfirm, ConfirmRisky, NeverConfirm.";
  expect(check({ kind: "Sometimes" })).toEqual({
    ok: false,
    errors: [
      { loc: ["body", "policy", "kind"], msg: `This kind is not known. ${names}`, type: "union_tag_invalid" },
    ],
  });
  expect(check({})).toEqual({
    ok: false,
    errors: [{ loc: ["body", "policy", "kind"], msg: `Add kind. ${names}`, type: "union_tag_not_found" }],
  });
  expect(check({ kind: "toString" }).ok).toBe(false);
});

test("every fault of a value is told, with the path to it and what to do", () => {
  const message = {
    role: "boss",
    content: [{ type: "text" }, { type: "sound" }, 7],
    tool_calls: [{ id: 1 }],
  };
  const checked = validator.check(Message, message, ["body", "llm_message"]);
  expect(checked.ok ? [] : checked.errors.map(({ loc, type }) => [loc.slice(2).join("."), type])).toEqual([
    ["role", "enum"],
    ["content.0.text", "missing"],
    ["content.1.type", "union_tag_invalid"],
    ["content.2", "object_type"],
    ["tool_calls.0.name", "missing"],
    ["tool_calls.0.arguments", "missing"],
    ["tool_calls.0.origin", "missing"],
    ["tool_calls.0.id", "string_type"],
  ]);
});

test("positions in lists are numbers, names that look like numbers are not", () => {
  const request = { secrets: { "0": { kind: "StaticSecret", value: 1 }, "a/b~c": { kind: "LookupSecret" } } };
  expect(validator.check(UpdateSecretsRequest, request)).toMatchObject({
    ok: false,
    errors: [{ loc: ["secrets", "0", "value"] }, { loc: ["secrets", "a/b~c", "url"] }],
  });
});

test("a refused value is never repeated", () => {
  const secret = "hunter2-hunter2";
  const values = [
    { kind: secret },
    { kind: "TerminalAction", command: 1, timeout: secret },
    { kind: "TaskTrackerAction", command: secret },
  ];
  for (const value of values) expect(JSON.stringify(validator.check(Action, value))).not.toContain(secret);
});

test("bounds say which number would do", () => {
  const check = (action: object) => validator.check(Action, action);
  expect(check({ kind: "BrowserClickAction", index: -1 })).toMatchObject({
    errors: [{ loc: ["index"], msg: "Send a number that is at least 0.", type: "greater_than_equal" }],
  });
  expect(check({ kind: "BrowserClickAction", index: 1.5 })).toMatchObject({
    errors: [{ msg: "Send a whole number.", type: "int_type" }],
  });
  expect(check({ kind: "TerminalAction", command: "x", timeout: "5" })).toMatchObject({
    errors: [{ msg: "Send a number or null.", type: "float_type" }],
  });
});

test("a hostile body gets one error quickly, not a million", () => {
  const content = Array.from({ length: 200_000 }, () => 1);
  const checked = validator.check(Message, { role: "user", content });
  expect(checked).toMatchObject({ ok: false, errors: [{ loc: ["content", 0], type: "object_type" }] });
});

test("a failed form leaves nothing of its defaults behind", () => {
  const message = {
    role: "assistant",
    content: [{ image_urls: ["x"] }],
    thinking_blocks: [{ data: "AA==" }],
  };
  expect(validator.check(Message, message)).toEqual({
    ok: true,
    value: {
      role: "assistant",
      content: [{ cache_prompt: false, type: "image", image_urls: ["x"] }],
      thinking_blocks: [{ type: "redacted_thinking", data: "AA==" }],
    },
  });
});

test("an agent without a kind is an Agent, and a start request is completed to the last field", () => {
  const checked = validator.check(StartConversationRequest, minimalStart());
  expect(checked).toMatchObject({
    ok: true,
    value: {
      agent: {
        kind: "Agent",
        llm: {
          model: "m",
          api_key: null,
          num_retries: 5,
          timeout: 300,
          reasoning_effort: "high",
          usage_id: "default",
        },
        tools: [],
        include_default_tools: ["FinishTool", "ThinkTool"],
      },
      workspace: { kind: "LocalWorkspace" },
      confirmation_policy: { kind: "NeverConfirm" },
      max_iterations: 500,
      stuck_detection: true,
      secrets: {},
    },
  });
});

test("defaults are not shared between values", () => {
  const [first, second] = [minimalStart(), minimalStart()].map((value) => {
    const checked = validator.check(StartConversationRequest, value);
    if (!checked.ok) throw new Error("The minimal request is not valid.");
    return checked.value;
  });
  first!.secrets!["A"] = { kind: "StaticSecret" };
  expect(second!.secrets).toEqual({});
});

test("requests keep unknown fields of newer clients, nested ones too", () => {
  const request = {
    ...minimalStart(),
    worktree: true,
    agent: { llm: { model: "m", fallback_strategy: {} } },
  };
  expect(validator.check(StartConversationRequest, request)).toMatchObject({
    ok: true,
    value: { worktree: true, agent: { llm: { fallback_strategy: {} } } },
  });
});

test("condensers may hold condensers", () => {
  const condenser = (inner: object) => ({ kind: "PipelineCondenser", condensers: [inner] });
  const request = (inner: object) => ({
    ...minimalStart(),
    agent: { llm: {}, condenser: condenser(condenser(inner)) },
  });
  expect(validator.check(StartConversationRequest, request({ kind: "NoOpCondenser" })).ok).toBe(true);
  expect(validator.check(StartConversationRequest, request({ kind: "Other" }))).toMatchObject({
    errors: [{ loc: ["agent", "condenser", "condensers", 0, "condensers", 0, "kind"] }],
  });
});

test("a value nested to exhaust the stack is refused like any other", () => {
  let condenser: object = { kind: "NoOpCondenser" };
  for (let depth = 0; depth < 50_000; depth += 1)
    condenser = { kind: "PipelineCondenser", condensers: [condenser] };
  const request = { ...minimalStart(), agent: { llm: {}, condenser } };
  expect(validator.check(StartConversationRequest, request, ["body"])).toEqual({
    ok: false,
    errors: [{ loc: ["body"], msg: "Send a value that is nested less deeply.", type: "recursion_loop" }],
  });
});

test("secrets may be texts, values or sources", () => {
  const secrets = {
    A: "plain",
    B: { value: "x" },
    C: { url: "https://h/" },
    D: { kind: "StaticSecret", value: null },
  };
  const wanted = {
    A: { kind: "StaticSecret", value: "plain", description: null },
    B: { kind: "StaticSecret", value: "x", description: null },
    C: { kind: "LookupSecret", url: "https://h/", headers: {}, description: null },
    D: { kind: "StaticSecret", value: null, description: null },
  };
  expect(validator.check(UpdateSecretsRequest, tolerateUpdateSecrets({ secrets }))).toEqual({
    ok: true,
    value: { secrets: wanted },
  });
  const start = tolerateStartConversation({ ...minimalStart(), secrets, initial_message: { content: "hi" } });
  expect(validator.check(StartConversationRequest, start)).toMatchObject({
    ok: true,
    value: {
      secrets: wanted,
      initial_message: { role: "user", content: [{ type: "text", text: "hi" }], run: true },
    },
  });
});

test.each([null, 7, "x", [], [null]])("tolerance never throws: %j", (junk) => {
  expect(validator.check(StartConversationRequest, tolerateStartConversation(junk)).ok).toBe(false);
  expect(validator.check(UpdateSecretsRequest, tolerateUpdateSecrets(junk)).ok).toBe(false);
  expect(validator.check(UpdateSecretsRequest, tolerateUpdateSecrets({ secrets: junk })).ok).toBe(
    junk === null,
  );
  expect(parseIncomingMessage(validator, junk).ok).toBe(false);
});

test("a message's content may be plain text", () => {
  const parse = (content: unknown) => {
    const parsed = parseIncomingMessage(validator, { role: "user", content });
    return parsed.ok ? parsed.value.content : parsed.errors;
  };
  const hi = { type: "text", text: "hi", cache_prompt: false };
  expect(parse("hi")).toEqual([hi]);
  expect(parse(["hi", { text: "hi" }, { type: "text", text: "hi" }])).toEqual([hi, hi, hi]);
  expect(parse("")).toEqual([]);
  expect(parse(null)).toEqual([]);
  expect(parse(7)).toMatchObject([{ loc: ["content"], type: "list_type" }]);
});

test("W22: the query of event search takes 1 to 100 and nothing else", () => {
  const check = (raw: Record<string, string>) => {
    const { query } = agentServerRoutes.searchEvents;
    const checked = validator.check(query, readQuery(query, raw), ["query"]);
    return checked.ok ? checked.value : checked.errors.map(({ loc, type }) => [...loc, type].join(" "));
  };
  expect(check({})).toEqual({ limit: 100, sort_order: "TIMESTAMP" });
  expect(check({ limit: "5", kind: "MessageEvent", other: "x" })).toEqual({
    limit: 5,
    kind: "MessageEvent",
    sort_order: "TIMESTAMP",
  });
  for (const limit of ["0", "-1"]) expect(check({ limit })).toEqual(["query limit greater_than"]);
  expect(check({ limit: "101" })).toEqual(["query limit less_than_equal"]);
  for (const limit of ["x", "", "1.5", "9e1"]) expect(check({ limit })).toEqual(["query limit int_type"]);
  expect(check({ sort_order: "UP" })).toEqual(["query sort_order enum"]);
});

test("P40: a time filter may lack its zone or have its plus sign turned into a space", () => {
  const { query } = agentServerRoutes.searchEvents;
  const isValid = (timestamp: string) =>
    validator.check(query, readQuery(query, { timestamp__gte: timestamp })).ok;
  const good = [
    "2026-01-31T12:00:00Z",
    "2026-01-31T12:00:00.123456Z",
    "2026-01-31 12:00:00",
    "2026-01-31T12:00:00+02:00",
    "2026-01-31T12:00:00 02:00",
    "2024-02-29",
  ];
  const bad = ["", "yesterday", "2026-02-29T12:00:00Z", "2026-01-31T25:00:00Z", "2026-13-01", "1769860800"];
  expect(good.filter((text) => !isValid(text))).toEqual([]);
  expect(bad.filter(isValid)).toEqual([]);
});

test("query texts become what the schema wants", () => {
  const schema = Type.Object({
    ids: Type.Optional(Type.Array(Type.String())),
    flag: Type.Optional(Type.Boolean()),
    ratio: Type.Optional(Type.Number()),
    name: Type.Optional(Type.String()),
  });
  expect(readQuery(schema, { ids: "a", flag: "True", ratio: "-0.5", name: ["x", "5"] })).toEqual({
    ids: ["a"],
    flag: true,
    ratio: -0.5,
    name: "5",
  });
  expect(readQuery(schema, { ids: ["a", "b"], flag: "maybe" })).toEqual({ ids: ["a", "b"], flag: "maybe" });
});

test("contract: an empty page_id is none, and other empty texts are texts", () => {
  const schema = Type.Object({ page_id: Type.Optional(Type.String()), body: Type.Optional(Type.String()) });
  expect(readQuery(schema, { page_id: "", body: "" })).toEqual({ body: "" });
});

test("conversation ids may lack their dashes", () => {
  const check = (id: string) =>
    validator.check(agentServerRoutes.getConversation.params, { conversation_id: id }, ["path"]);
  expect(check("019c0f3a-0000-7000-8000-000000000001").ok).toBe(true);
  expect(check("019c0f3a000070008000000000000001").ok).toBe(true);
  expect(check("../etc")).toMatchObject({
    errors: [{ loc: ["path", "conversation_id"], type: "uuid_parsing" }],
  });
});

test("a value that is no object at all is refused in words", () => {
  for (const value of [null, 1, "x", []]) {
    expect(validator.check(Event, value, ["body"])).toMatchObject({
      ok: false,
      errors: [{ loc: ["body"], msg: "Send an object.", type: "object_type" }],
    });
  }
});
