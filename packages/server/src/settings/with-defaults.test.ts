import { expect, test } from "vitest";
import { defaultSettings } from "./stored-settings.ts";
import { updateSettings } from "./update-settings.ts";
import { withDefaults } from "./with-defaults.ts";

const server = { catalogue: ["terminal", "grep"], approvalDefault: null };
const settings = updateSettings(defaultSettings, {
  llm_model: "openai/m",
  llm_base_url: "https://llm.example",
  llm_api_key: "canary",
  max_iterations: 7,
  confirmation_mode: true,
  security_analyzer: "llm",
});
const full = {
  agent: {
    kind: "Agent",
    llm: { model: "openai/m", base_url: "https://llm.example", api_key: "canary" },
    tools: [{ name: "terminal" }],
  },
  max_iterations: 7,
  confirmation_policy: { kind: "AlwaysConfirm" },
  security_analyzer: { kind: "LLMSecurityAnalyzer" },
};

test("what is left out comes from the settings", () => {
  const workspace = { working_dir: "w" };
  expect(withDefaults({ workspace }, settings, server)).toEqual({ workspace, ...full });
});

test("what is given stays", () => {
  const request = {
    agent: { llm: { model: "other", api_key: "own" } },
    max_iterations: 3,
    confirmation_policy: { kind: "NeverConfirm" },
    security_analyzer: null,
  };
  expect(withDefaults(request, settings, server)).toEqual(request);
});

test.each([
  ["another model", { model: "other" }],
  ["another address", { model: "openai/m", base_url: "https://evil.example" }],
  ["a key of its own", { model: "openai/m", api_key: "own" }],
])("P13: the stored key does not go to %s", (_, llm) => {
  expect(JSON.stringify(withDefaults({ agent: { llm } }, settings, server))).not.toContain("canary");
});

test.each([
  ["the model alone", { model: "openai/m" }],
  ["nothing", {}],
  ["nulls", { model: "openai/m", api_key: null, base_url: null }],
])("an llm with %s is the stored one", (_, llm) => {
  expect(withDefaults({ agent: { llm: { ...llm, seed: 1 }, tools: [] } }, settings, server)).toMatchObject({
    agent: { llm: { ...full.agent.llm, seed: 1 }, tools: [] },
  });
});

test.each([null, [], "x", { agent: "x" }, { agent: { llm: "x" } }, {}])(
  "%j is left for the check",
  (request) => {
    expect(withDefaults(request, defaultSettings, server)).toEqual(request);
  },
);

test("an agent made from settings has their MCP servers and their condenser, which writes with the agent's model", () => {
  const stored = updateSettings(settings, {
    condenser_max_size: 80,
    mcp_config: { shttp_servers: [{ url: "https://mcp.example", api_key: "mcp-key" }] },
    agent_settings_diff: { condenser: { keep_first: 4 } },
  });
  const made = withDefaults({}, stored, server) as { agent: Record<string, unknown> };
  expect(made.agent["mcp_config"]).toEqual({ mcpServers: stored.mcpServers });
  expect(JSON.stringify(made.agent["mcp_config"])).toContain("mcp-key");
  expect(made.agent["condenser"]).toEqual({
    kind: "LLMSummarizingCondenser",
    llm: full.agent.llm,
    max_size: 80,
    keep_first: 4,
  });
  const off = updateSettings(stored, { enable_default_condenser: false });
  expect(withDefaults({}, off, server)).not.toHaveProperty("agent.condenser");
  // An agent of the request's own is taken as it is.
  const given = { agent: { llm: { model: "other" } } };
  expect(withDefaults(given, stored, server)).toMatchObject(given);
  expect(withDefaults(given, stored, server)).not.toHaveProperty("agent.mcp_config");
});

test("the budget of the settings and the server's answer to unanswered actions are defaults; null is an answer", () => {
  const stored = updateSettings(defaultSettings, { max_budget_per_task: 2 });
  const approvalDefault = { timeout_seconds: 60, on_timeout: "reject" };
  const withPolicy = { ...server, approvalDefault };
  expect(withDefaults({}, stored, withPolicy)).toEqual({
    max_budget_per_task: 2,
    approval_policy: approvalDefault,
  });
  const given = { max_budget_per_task: null, approval_policy: null };
  expect(withDefaults(given, stored, withPolicy)).toEqual(given);
});

test("the server's reviewer counts for who has its model; a policy with a reviewer alone gets the server's deadline", () => {
  const deadline = { timeout_seconds: 60, on_timeout: "reject" };
  const reviewer = { llm: "careful", up_to: "MEDIUM" };
  const withReviewer = { ...server, approvalDefault: { ...deadline, reviewer } };
  expect(withDefaults({}, defaultSettings, withReviewer)).toEqual({ approval_policy: deadline });
  expect(withDefaults({}, defaultSettings, { ...server, approvalDefault: { reviewer } })).toEqual({});
  const stored = { ...defaultSettings, profiles: { careful: { model: "m" }, other: { model: "n" } } };
  expect(withDefaults({}, stored, withReviewer)).toEqual({ approval_policy: { ...deadline, reviewer } });
  const own = { approval_policy: { reviewer: { llm: "other" } } };
  expect(withDefaults(own, stored, withReviewer)).toEqual({
    approval_policy: { ...deadline, reviewer: { llm: "other" } },
  });
  const without = { approval_policy: { timeout_seconds: 5, on_timeout: "accept" } };
  expect(withDefaults(without, stored, withReviewer)).toEqual(without);
  const gone = { approval_policy: { reviewer: { llm: "gone" } } };
  expect(() => withDefaults(gone, stored, withReviewer)).toThrow();
});

test("the user's reviewer wins over the server's, unless the request has a policy or its model is gone", () => {
  const own = { ...settings, profiles: { careful: {}, other: {} }, reviewer: { llm: "careful" } };
  const withServer = { ...server, approvalDefault: { reviewer: { llm: "other" } } };
  const policyOf = (request: object, stored = own): unknown =>
    (withDefaults(request, stored, withServer) as { approval_policy?: unknown }).approval_policy;
  expect(policyOf({})).toEqual({ reviewer: { llm: "careful" } });
  expect(policyOf({}, { ...own, reviewer: null } as unknown as typeof own)).toEqual({
    reviewer: { llm: "other" },
  });
  expect(policyOf({}, { ...own, profiles: {} } as unknown as typeof own)).toBeUndefined();
  const policy = { timeout_seconds: 5, on_timeout: "reject" };
  expect(policyOf({ approval_policy: policy })).toEqual(policy);
});
