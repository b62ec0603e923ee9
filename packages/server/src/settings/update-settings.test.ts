import type { SettingsUpdate } from "@convoke/protocol";
import { SettingsUpdate as SettingsUpdateSchema } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import fc from "fast-check";
import { expect, test } from "vitest";
import { toSettings, toV1Settings } from "./settings-views.ts";
import { defaultSettings, type StoredSettings } from "./stored-settings.ts";
import { updateSettings } from "./update-settings.ts";

const mask = "**********";
const validator = createValidator();

/** What each named field must have become, in terms of the stored document; null secrets and models mean "as it is". */
type Expectation = {
  readonly read: (stored: StoredSettings) => unknown;
  readonly after: (value: unknown) => unknown;
};
const same = (value: unknown): unknown => value;
const emptyIsNull = (value: unknown): unknown => (value === "" ? null : value);
const plain = (name: keyof StoredSettings["plain"]): Expectation => ({
  read: (stored) => stored.plain[name],
  after: same,
});
const llm = (name: string): Expectation => ({
  read: (stored) => stored.llm[name] ?? null,
  after: emptyIsNull,
});

const text = fc.string({ minLength: 1, maxLength: 5, unit: fc.constantFrom("a", "b", "c") });
const nullableText = fc.option(text);
const secret = fc.constantFrom("", null, mask, "key-one", "key-two");
const fields = {
  language: { values: nullableText, ...plain("language") },
  agent: { values: nullableText, ...plain("agent") },
  max_iterations: { values: fc.option(fc.integer({ min: 1, max: 9 })), ...plain("max_iterations") },
  confirmation_mode: { values: fc.option(fc.boolean()), ...plain("confirmation_mode") },
  enable_sound_notifications: { values: fc.boolean(), ...plain("enable_sound_notifications") },
  max_budget_per_task: { values: fc.option(fc.constantFrom(0, 1.5)), ...plain("max_budget_per_task") },
  git_user_email: { values: nullableText, ...plain("git_user_email") },
  sandbox_grouping_strategy: {
    values: fc.constantFrom("NO_GROUPING", "ADD_TO_ANY"),
    ...plain("sandbox_grouping_strategy"),
  },
  user_consents_to_analytics: { values: fc.option(fc.boolean()), ...plain("user_consents_to_analytics") },
  llm_model: { values: fc.constantFrom("", null, "m-one", "m-two"), ...llm("model") },
  llm_base_url: { values: fc.constantFrom("", null, "https://a.example"), ...llm("base_url") },
  llm_api_key: { values: secret, ...llm("api_key") },
  search_api_key: {
    values: secret,
    read: (stored: StoredSettings) => stored.searchApiKey,
    after: emptyIsNull,
  },
  sandbox_api_key: {
    values: secret,
    read: (stored: StoredSettings) => stored.sandboxApiKey,
    after: emptyIsNull,
  },
} as const;
type Name = keyof typeof fields;
const nullKeeps: ReadonlySet<string> = new Set([
  "llm_model",
  "llm_base_url",
  "llm_api_key",
  "search_api_key",
  "sandbox_api_key",
  "user_consents_to_analytics",
]);

const server = fc.record({
  url: fc.constantFrom("https://one.example", "https://two.example"),
  api_key: fc.constantFrom("mcp-key", "", null),
});
const program = fc.record(
  {
    name: fc.constantFrom("p1"),
    command: fc.constant("run"),
    args: fc.constant(["a"]),
    env: fc.constant({ K: "env-value" }),
  },
  { requiredKeys: ["name", "command"] },
);
const update = fc.record(
  {
    ...(Object.fromEntries(Object.entries(fields).map(([name, { values }]) => [name, values])) as {
      [K in Name]: fc.Arbitrary<unknown>;
    }),
    mcp_config: fc.option(
      fc.record({
        sse_servers: fc.array(server, { maxLength: 2 }),
        stdio_servers: fc.array(program, { maxLength: 1 }),
        shttp_servers: fc.array(server, { maxLength: 2 }),
      }),
    ),
    agent_settings_diff: fc.record(
      {
        llm: fc.record(
          { temperature: fc.constantFrom(0.1, null), aws_secret_access_key: secret },
          { requiredKeys: [] },
        ),
        critic: fc.record({ api_key: secret, mode: nullableText }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<SettingsUpdate>;

test("P33: any sequence of partial updates changes only what they name, and never stores a mask", () => {
  fc.assert(
    fc.property(fc.array(update, { maxLength: 6 }), (updates) => {
      let stored = defaultSettings;
      for (const change of updates) {
        const before = stored;
        stored = updateSettings(before, change);
        expect(JSON.stringify(stored)).not.toContain(mask);
        for (const [name, { read, after }] of Object.entries(fields) as [Name, Expectation][]) {
          const value = change[name];
          const isUnchanged =
            value === undefined || value === mask || (value === null && nullKeeps.has(name));
          expect(read(stored), name).toEqual(isUnchanged ? read(before) : after(value));
        }
        if (change.mcp_config === undefined) expect(stored.mcpServers).toEqual(before.mcpServers);
        const extras = change.agent_settings_diff as { llm?: object; critic?: object } | undefined;
        if (extras?.critic === undefined) expect(stored.agentExtras).toEqual(before.agentExtras);
        const [secretNow, secretThen] = [stored, before].map((one) => one.llm["aws_secret_access_key"]);
        const given = (extras?.llm as Record<string, unknown> | undefined)?.["aws_secret_access_key"];
        if (given === undefined || given === null || given === mask) expect(secretNow).toBe(secretThen);
        expect([stored.providerTokens, stored.profiles]).toEqual([before.providerTokens, before.profiles]);
      }
    }),
    { numRuns: 300 },
  );
});

test("P33: sending back what was read changes nothing, on either face", () => {
  fc.assert(
    fc.property(fc.array(update, { maxLength: 4 }), (updates) => {
      const stored = updates.reduce(updateSettings, defaultSettings);
      for (const view of [toSettings(stored), toV1Settings(stored)]) {
        const checked = validator.check(SettingsUpdateSchema, structuredClone(view));
        expect(checked).toMatchObject({ ok: true });
        if (checked.ok) expect(updateSettings(stored, checked.value)).toEqual(stored);
      }
    }),
    { numRuns: 300 },
  );
});

test("P13: no secret is in any view", () => {
  fc.assert(
    fc.property(fc.array(update, { maxLength: 4 }), (updates) => {
      const stored = updates.reduce(updateSettings, defaultSettings);
      const shown = JSON.stringify([toSettings(stored), toV1Settings(stored)]);
      for (const value of ["key-one", "key-two", "mcp-key", "env-value"]) expect(shown).not.toContain(value);
    }),
  );
});

test("the contract's 28 members are always there, and secrets null", () => {
  const contract = [
    "llm_api_key_set language agent max_iterations security_analyzer confirmation_mode llm_model llm_api_key",
    "llm_base_url remote_runtime_resource_factor secrets_store enable_default_condenser enable_sound_notifications",
    "enable_proactive_conversation_starters enable_solvability_analysis user_consents_to_analytics",
    "sandbox_base_container_image sandbox_runtime_container_image mcp_config search_api_key sandbox_api_key",
    "max_budget_per_task email email_verified git_user_name git_user_email provider_tokens_set search_api_key_set",
  ].flatMap((line) => line.split(" "));
  expect(contract).toHaveLength(28);
  const full = updateSettings(defaultSettings, {
    llm_api_key: "a",
    search_api_key: "b",
    sandbox_api_key: "c",
  });
  for (const stored of [defaultSettings, full]) {
    const shown = toSettings(stored) as Record<string, unknown>;
    expect(contract.filter((name) => shown[name] === undefined)).toEqual([]);
    expect([shown["llm_api_key"], shown["search_api_key"], shown["sandbox_api_key"]]).toEqual([
      null,
      null,
      null,
    ]);
    expect(shown["secrets_store"]).toEqual({ provider_tokens: {}, custom_secrets: {} });
    expect([shown["llm_api_key_set"], shown["search_api_key_set"]]).toEqual([
      stored === full,
      stored === full,
    ]);
  }
});

test("the key of an MCP server stays with its address, and does not go to another one", () => {
  const one = updateSettings(defaultSettings, {
    mcp_config: { sse_servers: [{ url: "https://a.example", api_key: "canary" }] },
  });
  const reordered = updateSettings(one, {
    mcp_config: { sse_servers: [{ url: "https://b.example" }, { url: "https://a.example", api_key: mask }] },
  });
  const keys = Object.values(reordered.mcpServers ?? {}).map(({ url, auth }) => [url, auth]);
  expect(keys).toEqual([
    ["https://b.example", undefined],
    ["https://a.example", { strategy: "bearer", value: "canary" }],
  ]);
  const moved = { mcp_config: { sse_servers: [{ url: "https://c.example", api_key: mask }] } };
  expect(() => updateSettings(one, moved)).toThrow("not valid");
  const removed = updateSettings(one, {
    mcp_config: { sse_servers: [{ url: "https://a.example", api_key: "" }] },
  });
  expect(JSON.stringify(removed)).not.toContain("canary");
});

test("names that objects have by birth are names like others", () => {
  const stored = updateSettings(defaultSettings, {
    mcp_config: {
      stdio_servers: [
        { name: "__proto__", command: "x" },
        { name: "constructor", command: "y" },
      ],
    },
    agent_settings_diff: JSON.parse('{"__proto__":{"polluted":true},"llm":{"__proto__":{"polluted":true}}}'),
  });
  expect(Object.keys(stored.mcpServers ?? {})).toEqual(["__proto__", "constructor"]);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  expect(updateSettings(stored, { mcp_config: toSettings(stored).mcp_config })).toEqual(stored);
});

test("a reviewer is a stored model with the risk that it may answer about", () => {
  const stored = { ...defaultSettings, profiles: { careful: { model: "openai/m" } } };
  const change = (reviewer: unknown) => updateSettings(stored, { conversation_settings_diff: { reviewer } });
  expect(change({ llm: "careful", up_to: "LOW" }).reviewer).toEqual({ llm: "careful", up_to: "LOW" });
  expect(
    updateSettings(change({ llm: "careful" }), { conversation_settings_diff: { reviewer: null } }).reviewer,
  ).toBe(null);
  for (const [reviewer, field] of [
    [{ llm: "other" }, "reviewer.llm"],
    [{ llm: "careful", up_to: "UNKNOWN" }, "reviewer.up_to"],
    [{ llm: "careful", upto: "LOW" }, "reviewer"],
    ["careful", "reviewer"],
  ] as const)
    expect(() => change(reviewer)).toThrow(field);
});
