import { expect, test } from "vitest";
import { agentFaceRoutes, appFaceRoutes } from "../routes/face-routes.ts";
import type { Route } from "../routes/route.ts";
import { StartConversationRequest } from "../requests/start-conversation.ts";
import { SendMessageRequest } from "../requests/send-message.ts";
import { allSchemas } from "../schemas.ts";
import { SettingsPatch } from "../settings/settings-patch.ts";
import facts from "../golden/agent-server-0.1.0.facts.json" with { type: "json" };
import { nearMiss } from "./near-miss.ts";
import { findUnusedFields } from "./unused-fields.ts";

const names = (found: ReturnType<typeof findUnusedFields>): (string | null)[][] =>
  found.map(({ loc, meant }) => [loc.join("."), meant]);

test("F5: another case, camelCase, plural, and one or two slips in a long name are near misses", () => {
  const known = ["max_iterations", "confirmation_policy", "tools", "llm", "tags", "top_p"];
  for (const [given, meant] of [
    ["max_iteration", "max_iterations"],
    ["maxIterations", "max_iterations"],
    ["MAX_ITERATIONS", "max_iterations"],
    ["max-iterations", "max_iterations"],
    ["max_itreations", "max_iterations"],
    ["confirmation_polcy", "confirmation_policy"],
    ["confirmaton_polcy", "confirmation_policy"],
    ["confirmationPolicys", "confirmation_policy"],
    ["tool", "tools"],
    ["Tools", "tools"],
    ["LLM", "llm"],
    ["llms", null],
    ["tools2", null],
    ["topics", null],
    ["run_colour", null],
    ["mode", null],
  ])
    expect([given, nearMiss(given!, known)]).toEqual([given, meant]);
});

test("F5: fields are looked for in every part of a request, whatever form it has", () => {
  const found = findUnusedFields(StartConversationRequest, {
    run_colour: "blue",
    confirmation_polcy: null,
    observability_metadata: null,
    agent: {
      kind: "Agent",
      observability: { type: "object" },
      llm: { model: "m", temprature: 1, custom_tokenizer: "theirs", modify_params: true },
      tools: [{ name: "terminal", parms: {} }],
      mcp_config: { mcpServers: { a: { command: "x", envs: { A: "b" } } } },
      agent_context: { disabled_skills: ["x"], skills: [{ name: "a", content: "b", colour: "red" }] },
      condenser: { kind: "NoOpCondenser", max_size: 20 },
    },
    secrets: { A: "plain", B: { value: "v", descripton: "d" } },
    initial_message: { content: [{ type: "text", text: "t", mode: "fast" }, "bare"] },
    tool_module_qualnames: { terminal: "openhands.tools.terminal.definition" },
    agent_settings: { lllm: {}, llm: { modle: "m" }, condenser: { enabled: true } },
    hook_config: { stop: [{ hooks: [{ command: "x", async: true, async_: true, shell: "bash" }] }] },
  });
  expect(names(found)).toEqual([
    ["run_colour", null],
    ["confirmation_polcy", "confirmation_policy"],
    ["agent.observability", null],
    ["agent.llm.temprature", "temperature"],
    ["agent.llm.custom_tokenizer", null],
    ["agent.tools.0.parms", "params"],
    ["agent.mcp_config.mcpServers.a.envs", null],
    ["agent.agent_context.skills.0.colour", null],
    ["agent.condenser.max_size", null],
    ["secrets.B.descripton", "description"],
    ["initial_message.content.0.mode", null],
    ["agent_settings.llm.modle", "model"],
    ["hook_config.stop.0.hooks.0.shell", null],
  ]);
});

test("F5: moments of hooks may be called as events call them, and their parts are read as well", () => {
  const matchers = [{ hooks: [{ command: "x", shell: "bash" }] }];
  const hooks = { UserPromptSubmit: matchers, PreToolUse: [], Stop: [], SessionStop: matchers };
  for (const config of [hooks, { hooks }]) {
    const found = findUnusedFields(StartConversationRequest, { hook_config: config });
    expect(found.map(({ loc, meant }) => [loc.at(-1), meant])).toEqual([
      ["shell", null],
      ["SessionStop", null],
    ]);
  }
});

test("F5: known fields without an effect are named only where they ask for something", () => {
  const modules = { mine: "my.tools", terminal: "openhands.tools.terminal.definition" };
  expect(names(findUnusedFields(StartConversationRequest, { tool_module_qualnames: modules }))).toEqual([
    ["tool_module_qualnames", null],
  ]);
  const llm = {
    auth_type: "subscription",
    inline_image_urls: false,
    max_message_chars: 30_000,
    disable_stop_word: true,
  };
  expect(names(findUnusedFields(SettingsPatch, { agent_settings_diff: { llm } }))).toEqual([
    ["agent_settings_diff.llm.auth_type", null],
    ["agent_settings_diff.llm.disable_stop_word", null],
  ]);
  expect(findUnusedFields(SendMessageRequest, { role: "user", content: "x", mode: "" })).toEqual([]);
});

test("F5: what the official SDK 1.58 sends in every request asks for nothing", () => {
  const llm = {
    model: "m",
    stream_idle_timeout: 300,
    auth_type: "api_key",
    log_completions_folder: "logs/completions",
  };
  const body = {
    secrets_encrypted: false,
    observability_span_name: "conversation",
    observability_tags: [],
    user_id: null,
    agent: {
      llm,
      condenser: { kind: "LLMSummarizingCondenser", llm, minimum_progress: 0.1 },
      agent_context: {
        load_memory: false,
        marketplace_path: "marketplaces/default.json",
        disabled_skills: [],
      },
    },
  };
  expect(findUnusedFields(StartConversationRequest, body)).toEqual([]);
  const other = { ...body, secrets_encrypted: true, agent: { llm: { ...llm, stream_idle_timeout: 5 } } };
  expect(names(findUnusedFields(StartConversationRequest, other))).toEqual([
    ["secrets_encrypted", null],
    ["agent.llm.stream_idle_timeout", null],
  ]);
});

test("F5: a hostile body names no more than fifty fields", () => {
  const body = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`colour_${at}`, at]));
  expect(findUnusedFields(SendMessageRequest, body)).toHaveLength(50);
});

const propertiesOf = (schema: object = {}): object =>
  "properties" in schema ? (schema.properties as object) : {};

const routes: readonly Route[] = [...Object.values(agentFaceRoutes), ...Object.values(appFaceRoutes)];
const bodies = routes.flatMap(({ operationId, body }) =>
  body === undefined ? [] : [[operationId, body] as const],
);

test.each(bodies)("F5: %s takes its own fields and names a slip in each", (_operation, body) => {
  const fields = Object.keys((body as { properties?: object }).properties ?? {});
  expect(findUnusedFields(body, Object.fromEntries(fields.map((field) => [field, true])))).toEqual([]);
  for (const field of fields.filter((name) => name.length >= 4)) {
    const typo = `${field.slice(0, 2)}${field[1]}${field.slice(2)}`;
    if (fields.includes(typo)) continue;
    expect(names(findUnusedFields(body, { [typo]: true }))).toEqual([[typo, field]]);
  }
});

test("F5: no field of agent server 0.1.0 is a near miss of another one of ours", () => {
  for (const [name, theirs] of Object.entries<object>(facts.schemas)) {
    const ours = Object.keys(propertiesOf(allSchemas.get(name)));
    for (const field of Object.keys(theirs).filter((known) => !ours.includes(known)))
      expect([name, field, nearMiss(field, ours)]).toEqual([name, field, null]);
  }
});
