import { AppConversationStartRequest, startTaskRoutes } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import { expect, test } from "vitest";
import { Fault } from "../../lib/fault.ts";
import { defaultSettings, type StoredSettings } from "../../settings/stored-settings.ts";
import { readAppStartRequest, type StartContext } from "./app-start-request.ts";

const validator = createValidator();
const settings: StoredSettings = {
  ...defaultSettings,
  llm: { model: "openai/stored", base_url: "http://models.example/v1", api_key: "llm-key-123" },
  providerTokens: {
    github: { token: "gh-token-123", user_id: null, host: null },
    bitbucket: { token: "ada:app-password", user_id: null, host: "bit.example" },
  },
  mcpServers: { files: { url: "https://mcp.example", headers: { Authorization: "mcp-secret-123" } } },
};
const context: StartContext = {
  validator,
  settings,
  settingsVersion: 3,
  settingsUsed: undefined,
  secrets: { CUSTOM: { value: "custom-value-123" }, SHARED: { value: "of the user" } },
  catalogue: ["file_editor", "terminal"],
  approvalDefault: null,
  templates: [{ id: "bubblewrap" }, { id: "process" }],
  sandbox: null,
  parent: null,
  unused: [],
};

function read(raw: object, changes: Partial<StartContext> = {}) {
  const checked = validator.check<AppConversationStartRequest>(
    AppConversationStartRequest,
    startTaskRoutes.startAppConversation.tolerateBody(structuredClone(raw)),
    ["body"],
  );
  if (!checked.ok) throw new Error(JSON.stringify(checked.errors));
  return readAppStartRequest(checked.value, { ...context, ...changes });
}

test("the user's model, secrets, tokens and servers are the conversation's; nothing secret is shown or left in the configuration", () => {
  const { order, shown } = read({
    secrets: { SHARED: "of the request" },
    git_provider: "bitbucket",
    selected_repository: "team/code",
    system_message_suffix: "Be brief.",
    initial_message: { content: [{ type: "text", text: "Use custom-value-123." }] },
  });
  const values = Object.fromEntries(
    Object.entries(order.secrets.sources).map(([name, source]) => [
      name,
      "value" in source ? source.value : null,
    ]),
  );
  expect(values).toEqual({
    CUSTOM: "custom-value-123",
    SHARED: "of the request",
    GITHUB_TOKEN: "gh-token-123",
    BITBUCKET_TOKEN: "app-password",
    GIT_TOKEN: "app-password",
  });
  expect(order.secrets.llm).toEqual({ api_key: "llm-key-123" });
  expect(order.config.agent).toMatchObject({
    llm: { model: "openai/stored", base_url: "http://models.example/v1", api_key: null },
    agent_context: { system_message_suffix: "Be brief." },
  });
  expect(order.repository).toEqual({
    name: "team/code",
    url: "https://bit.example/team/code.git",
    branch: null,
    isFull: false,
    login: { user: "ada", secret: "BITBUCKET_TOKEN" },
  });
  const open = JSON.stringify([shown, order.config]);
  for (const secret of [
    "custom-value-123",
    "of the request",
    "gh-token-123",
    "app-password",
    "llm-key-123",
    "mcp-secret-123",
  ]) {
    expect(open).not.toContain(secret);
  }
  expect(shown).toMatchObject({
    secrets: null,
    selected_repository: "team/code",
    initial_message: { run: true },
  });
});

test("secrets that are bound to hosts enter a start as that", () => {
  const bound = { value: "value-of-the-token", hosts: ["git.example.com"], as: "header" as const };
  const { order, shown } = readAppStartRequest(
    {},
    { ...context, secrets: { ...context.secrets, TOKEN: bound } },
  );
  expect(Object.keys(order.secrets.sources)).toEqual(expect.arrayContaining(["CUSTOM", "SHARED"]));
  expect(order.secrets.sources["TOKEN"]).toMatchObject({ kind: "StaticSecret", ...bound });
  expect(JSON.stringify([order.config, shown])).not.toContain(bound.value);
});

test("a named model keeps the stored address and key, and the template is the user's if it is there", () => {
  const { order } = read({ llm_model: "openai/other" });
  expect(order.config.agent.llm).toMatchObject({
    model: "openai/other",
    base_url: "http://models.example/v1",
  });
  expect(order.secrets.llm).toEqual({ api_key: "llm-key-123" });
  const chosen = (id: string): string =>
    read({}, { settings: { ...settings, plain: { ...settings.plain, default_sandbox_spec_id: id } } }).order
      .templateId;
  expect([chosen("process"), chosen("gone")]).toEqual(["process", "bubblewrap"]);
});

test("a suggested task becomes a message, a trigger and a repository", () => {
  const task = {
    git_provider: "github",
    task_type: "OPEN_ISSUE",
    repo: "a/b",
    issue_number: 7,
    title: "Broken",
  };
  const { order } = read({ suggested_task: task });
  expect(order.facts).toMatchObject({
    trigger: "suggested_task",
    selectedRepository: "a/b",
    gitProvider: "github",
  });
  expect(JSON.stringify(order.initialMessage)).toMatch(/issue 7.*Broken/);
  expect(order.initialMessage?.wantsRun).toBe(true);
  expect(() => read({ suggested_task: task, initial_message: { content: [] } })).toThrow("either");
});

test.each([
  ["processors", { processors: [{ kind: "LoggingCallbackProcessor" }] }],
  ["agent_profile_id", { agent_profile_id: "0198c0de-0000-7000-8000-00000000abcd" }],
  ["selected_repository", { selected_repository: "../x" }],
  ["selected_repository", { selected_repository: "a/$(b)" }],
  ["selected_branch", { selected_branch: "-b" }],
  ["selected_branch", { selected_branch: "a..b" }],
  ["secrets", { secrets: { "no name": "x" } }],
  ["git_provider", { selected_repository: "a/b", git_provider: "enterprise_sso" }],
])("P55: what cannot be honoured is refused by name: %s %j", (field, body) => {
  const refused = catching(() => read(body));
  expect(refused.fields.map(({ loc }) => loc[1])).toContain(field);
});

test("an agent that plans has the prompt of one, and is made from the user's settings like any other", () => {
  const { agent } = read({ agent_type: "plan" }).order.config;
  const usual = read({ agent_type: "default" }).order.config.agent;
  expect(agent).toEqual({ ...usual, system_prompt_filename: "system_prompt_planning.j2" });
});

test("P55: marks for traces are accepted, returned, and reported", () => {
  const marks = {
    observability_tags: ["x"],
    observability_span_name: "y",
    observability_metadata: { a: 1 },
  };
  const { order, shown } = read(marks);
  expect(shown).toMatchObject(marks);
  const [warning] = order.config.warnings ?? [];
  expect(warning?.code).toBe("observability_left_out");
  expect(new Set(warning?.["fields"] as string[])).toEqual(new Set(Object.keys(marks)));
});

test("without any model the start is refused", () => {
  const refused = catching(() => read({}, { settings: defaultSettings }));
  expect(refused.fields[0]?.loc).toEqual(["body", "llm_model"]);
});

function catching(act: () => unknown): Fault {
  try {
    act();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("It was not refused.");
}

test("the spec of a request wins over that of the settings; one that is not there is a 404 that lists them", () => {
  const plain = { ...settings.plain, default_sandbox_spec_id: "process" };
  const changes = { settings: { ...settings, plain } };
  expect(read({ sandbox_spec_id: "bubblewrap" }, changes).order.templateId).toBe("bubblewrap");
  expect(read({ sandbox_spec_id: null }, changes).order.templateId).toBe("process");
  const refusal = refusalOf({ sandbox_spec_id: "gone" });
  expect(refusal).toMatchObject({ kind: "missing", code: "sandbox_spec_not_found" });
  expect(refusal.message).toContain("bubblewrap, process");
  expect(refusalOf({ sandbox_spec_id: "process", sandbox_id: "made" })).toMatchObject({
    fields: [{ loc: ["body", "sandbox_spec_id"] }],
  });
});

test("a default of the settings that is not there any more is told, and the first spec is used", () => {
  const plain = { ...settings.plain, default_sandbox_spec_id: "gone" };
  const warningsOf = (raw: object) =>
    read(raw, { settings: { ...settings, plain } }).order.config.warnings?.map(({ code }) => code) ?? [];
  expect(warningsOf({})).toContain("sandbox_spec_left_out");
  expect(warningsOf({ sandbox_id: "made" })).not.toContain("sandbox_spec_left_out");
});

test("only those of the user's stored secrets enter that the spec names; what the request brings is the caller's", () => {
  const namesOf = (raw: object, changes: Partial<StartContext>) =>
    Object.keys(read(raw, changes).order.secrets.sources).toSorted();
  const templates = [{ id: "bounded", secretNames: ["CUSTOM"] }, { id: "open" }];
  expect(namesOf({ secrets: { MINE: "of the request" } }, { templates })).toEqual(["CUSTOM", "MINE"]);
  expect(namesOf({ sandbox_spec_id: "open" }, { templates })).toContain("GITHUB_TOKEN");
  // In a sandbox that is there its own list counts, whatever the specs say by now.
  const sandbox = { secretNames: ["SHARED"] };
  expect(namesOf({ sandbox_id: "made" }, { templates, sandbox })).toEqual(["SHARED"]);
  expect(namesOf({ sandbox_id: "made" }, { templates, sandbox: {} })).toContain("GITHUB_TOKEN");
});

function refusalOf(raw: object): Fault {
  try {
    read(raw);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("It was not refused.");
}
