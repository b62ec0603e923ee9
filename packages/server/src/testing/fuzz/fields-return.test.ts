import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MemorySandboxes } from "../memory-sandboxes.ts";
import { startTestServer, type TestServer } from "../start-server.ts";
import { resolveSchema, type OpenApiDocument, type Schema } from "./document.ts";
import { createSchemaArbitrary, type NamedValues } from "./schema-arbitrary.ts";

/** A request whose fields must be returned: where they are documented, how they are sent, where they are read. */
type Case = {
  readonly name: string;
  readonly schema: string;
  /** Fields that need not be returned as sent, each with its reason. */
  readonly elsewhere: Readonly<Record<string, string>>;
  /** Fields for which null means "unchanged", or the server's own value. */
  readonly nullKeeps?: true | readonly string[];
  readonly send: (server: TestServer, field: object) => Promise<Sent>;
};

type Sent = { readonly status: number; readonly json: unknown; readonly read: object };

/** Number of values for each field; more with `CONVOKE_FIELD_SAMPLES`. */
const samplesPerField = Number(process.env["CONVOKE_FIELD_SAMPLES"] ?? "1");

const secretValue = "values of secrets never come back";
const llmElsewhere = {
  api_key: secretValue,
  aws_access_key_id: secretValue,
  aws_secret_access_key: secretValue,
  aws_session_token: secretValue,
  extra_headers: secretValue,
};

const cases: readonly Case[] = [
  {
    name: "a conversation",
    schema: "StartConversationRequest",
    nullKeeps: ["wall"],
    elsewhere: {
      conversation_id: "comes back as id",
      initial_message: "comes back as an event",
      secrets: "values never come back",
      autotitle: "decides about the title alone",
      title_llm_profile: "decides about the title alone",
      agent_definitions: "offered by the tool that gives work to sub-agents",
      tool_module_qualnames: "told to those who attach, of the tools that the agent has",
      agent: "has rows of its own",
      workspace: "has rows of its own",
      worktree: "the folder and the branch are returned, or a warning is in the log",
      conversation_runtime: "local is how it is; docker is refused by its name",
      container: "read with docker alone",
      worktree_options: "read with a worktree alone, and seen in its branch and its base",
      agent_launch_additions: "becomes a part of the agent's words",
      agent_type: "becomes the name of the agent's prompt",
      max_budget_per_task: "read with the spend of the conversation",
      approval_policy: "read with the approvals of the conversation",
    },
    send: (server, field) => createAndRead(server, { ...server.startRequest(), ...field }, (info) => info),
  },
  {
    name: "the agent of a conversation",
    schema: "Agent-Input",
    elsewhere: { llm: "has rows of its own", mcp_config: "its credentials are masked" },
    send: (server, field) => {
      const { agent, ...rest } = server.startRequest();
      return createAndRead(
        server,
        { ...rest, agent: { ...agent, ...field } },
        (info) => info["agent"] as object,
      );
    },
  },
  {
    name: "the model of a conversation",
    schema: "LLM",
    elsewhere: llmElsewhere,
    send: (server, field) => {
      const { agent, ...rest } = server.startRequest();
      const llm = { ...(agent as { llm: object }).llm, ...field };
      return createAndRead(
        server,
        { ...rest, agent: { ...agent, llm } },
        (info) => (info["agent"] as { llm: object }).llm,
      );
    },
  },
  {
    name: "a change of a conversation",
    schema: "UpdateConversationRequest",
    elsewhere: {},
    send: async (server, field) => {
      const { id } = await server.createConversation();
      const { status, json } = await server.call("PATCH", `/api/conversations/${id}`, field);
      return { status, json, read: (await server.call("GET", `/api/conversations/${id}`)).json as object };
    },
  },
  {
    name: "settings",
    schema: "SettingsUpdate",
    nullKeeps: true,
    elsewhere: {
      llm_api_key: secretValue,
      search_api_key: secretValue,
      sandbox_api_key: secretValue,
      secrets_store: secretValue,
      mcp_config: "its credentials are masked",
      condenser_max_size: "comes back as agent_settings.condenser.max_size",
      agent_settings: "comes back in the flat fields and below agent_settings, with defaults",
      agent_settings_diff: "comes back in the flat fields and below agent_settings",
      conversation_settings: "comes back in the flat fields and below conversation_settings, with defaults",
      conversation_settings_diff: "comes back in the flat fields and below conversation_settings",
    },
    send: async (server, field) => {
      const { status, json } = await server.call("POST", "/api/v1/settings", field);
      const { json: older } = await server.call("GET", "/api/settings");
      const { json: newer } = await server.call("GET", "/api/v1/settings");
      return { status, json, read: { ...(older as object), ...(newer as object) } };
    },
  },
  {
    name: "the start of an app conversation",
    schema: "AppConversationStartRequest-Input",
    elsewhere: { secrets: "values never come back" },
    send: async (server, field) => {
      const { status, json } = await server.call("POST", "/api/v1/app-conversations", field);
      return { status, json, read: (json as { request?: object }).request ?? {} };
    },
  },
  {
    name: "a profile",
    schema: "LLM",
    elsewhere: llmElsewhere,
    send: async (server, field) => {
      const llm = { model: "openai/scripted", ...field };
      const { status, json } = await server.call("POST", "/api/profiles/mine", { llm });
      const { json: read } = await server.call("GET", "/api/profiles/mine");
      return { status, json, read: (read as { config?: object }).config ?? {} };
    },
  },
  {
    name: "a change of settings by their newer names",
    schema: "SettingsPatch",
    elsewhere: {
      agent_settings_diff: "comes back below agent_settings, with defaults; the model has rows of its own",
      conversation_settings_diff: "comes back below conversation_settings, with defaults",
      misc_settings_diff: "comes back as misc_settings",
      active_profile: "names a stored profile",
      active_agent_profile_id: "names a stored agent profile",
    },
    send: async (server, field) => {
      const { status, json } = await server.call("PATCH", "/api/settings", field);
      return { status, json, read: (await server.call("GET", "/api/settings")).json as object };
    },
  },
  {
    name: "the model in the settings",
    schema: "LLM",
    elsewhere: llmElsewhere,
    send: async (server, field) => {
      const patch = { agent_settings_diff: { llm: field } };
      const { status, json } = await server.call("PATCH", "/api/settings", patch);
      const { json: read } = await server.call("GET", "/api/settings");
      return { status, json, read: (read as { agent_settings: { llm: object } }).agent_settings.llm };
    },
  },
  {
    name: "a connection to a provider",
    schema: "ProviderConnectionCreateRequest",
    elsewhere: { api_key: secretValue },
    send: async (server, field) => {
      const body = { display_name: "mine", provider: "openai", api_key: "key", ...field };
      const { status, json } = await server.call("POST", "/api/llm/provider-connections", body);
      return { status, json, read: json ?? {} };
    },
  },
  {
    name: "a copy of a conversation",
    schema: "ForkConversationRequest",
    elsewhere: {
      id: "made by the server for null",
      reset_metrics: "decides about the stats alone",
      from_event_id: "names an event of the conversation",
    },
    send: async (server, field) => {
      const { id } = await server.createConversation();
      const { status, json } = await server.call("POST", `/api/conversations/${id}/fork`, field);
      return { status, json, read: json ?? {} };
    },
  },
  {
    name: "an MCP server",
    schema: "MCPServerSettings",
    elsewhere: { headers: secretValue, env: secretValue, auth: secretValue },
    send: async (server, field) => {
      const base = "command" in field && field.command !== null ? {} : { url: "http://127.0.0.1:9/mcp" };
      await server.call("DELETE", "/api/settings/mcp/mine");
      const { status, json } = await server.call("POST", "/api/settings/mcp/mine", { ...base, ...field });
      const { json: read } = await server.call("GET", "/api/settings");
      const { agent_settings: agent } = read as { agent_settings: { mcp_config: Record<string, object> } };
      return { status, json, read: agent.mcp_config["mine"] ?? {} };
    },
  },
  {
    name: "limits of a conversation",
    schema: "SetLimitsRequest",
    elsewhere: {},
    send: async (server, field) => {
      const { id } = await server.createConversation();
      const { status, json } = await server.call("POST", `/api/conversations/${id}/limits`, field);
      const { json: read } = await server.call("GET", `/api/conversations/${id}`);
      return { status, json, read: { ...(json as object), ...(read as object) } };
    },
  },
  {
    name: "a stored secret",
    schema: "CustomSecretModel",
    elsewhere: { value: secretValue },
    send: async (server, field) => {
      const name = `SECRET_${Math.random().toString(36).slice(2)}`;
      const value = "long enough to be bound";
      const { status, json } = await server.call("POST", "/api/v1/secrets", { name, value, ...field });
      const { json: read } = await server.call("GET", "/api/v1/secrets/search?limit=100");
      const sent = "name" in field ? field.name : name;
      const { items } = read as { items: { name: string }[] };
      return { status, json, read: items.find((item) => item.name === sent) ?? {} };
    },
  },
];

const named: NamedValues = {
  base_url: fc.constantFrom("http://127.0.0.1:9/v1", null),
  llm_base_url: fc.constantFrom("http://127.0.0.1:9/v1", null),
  model: fc.constantFrom("openai/scripted", "openai/other"),
  llm_model: fc.constantFrom("openai/scripted", "openai/other"),
  url: fc.constantFrom("http://127.0.0.1:9/mcp"),
  tools: fc.constantFrom([], [{ name: "terminal" }], [{ name: "terminal", params: {} }, { name: "grep" }]),
  // The value of a secret is never returned (P13).
  secrets: fc.constantFrom(null),
  include_default_tools: fc.constantFrom([], ["FinishTool"], ["FinishTool", "ThinkTool"]),
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ openSandboxes: async () => new MemorySandboxes() });
  const model = { llm_model: "openai/scripted", llm_base_url: `${server.model.url}/v1` };
  await server.call("POST", "/api/v1/settings", model);
});
afterAll(() => server[Symbol.asyncDispose]());

test.each(cases)(
  "P55: every documented field of $name is returned, or refused by its name",
  async ({ schema, elsewhere, nullKeeps, send }) => {
    const document = (await server.call("GET", "/openapi.json")).json as OpenApiDocument;
    const { schemas } = document.components;
    const toValue = createSchemaArbitrary(schemas, named);
    const { properties = {} } = resolveSchema({ $ref: `#/components/schemas/${schema}` }, schemas);
    const lost: string[] = [];
    for (const [position, [field, fieldSchema]] of Object.entries(properties).entries()) {
      if (field === "kind" || elsewhere[field] !== undefined) continue;
      for (const value of valuesOf(field, fieldSchema, position)) {
        const { status, json, read } = await send(server, { [field]: value });
        if (status === 422 && namesField(json, field)) continue;
        const mayDiffer = nullKeeps === true || nullKeeps?.includes(field) === true;
        if (status < 300 && value === null && mayDiffer) continue;
        if (status < 300 && holds((read as Record<string, unknown>)[field], value)) continue;
        const answer =
          status < 300 ? JSON.stringify((read as Record<string, unknown>)[field]) : JSON.stringify(json);
        lost.push(`${field}: ${JSON.stringify(value)} -> ${status} ${answer?.slice(0, 300)}`);
      }
    }
    expect(lost).toEqual([]);
    // A reason for a removed field is outdated.
    expect(Object.keys(elsewhere).filter((field) => properties[field] === undefined)).toEqual([]);

    function valuesOf(field: string, fieldSchema: Schema, position: number): unknown[] {
      const arbitrary = named[field] ?? toValue(fieldSchema);
      return fc.sample(arbitrary, { seed: 55_000 + position, numRuns: samplesPerField });
    }
  },
);

async function createAndRead(
  server: TestServer,
  body: object,
  pick: (info: Record<string, unknown>) => object,
): Promise<Sent> {
  const { status, json } = await server.call("POST", "/api/conversations", body);
  if (status >= 300) return { status, json, read: {} };
  const { id } = json as { id: string };
  const { json: read } = await server.call("GET", `/api/conversations/${id}`);
  return { status, json, read: pick(read as Record<string, unknown>) };
}

function namesField(json: unknown, field: string): boolean {
  const { detail } = json as { detail?: { loc: (string | number)[] }[] };
  return Array.isArray(detail) && detail.some(({ loc }) => loc.includes(field));
}

/** Everything sent is returned; null or empty values may be left out, and defaults may be added. */
function holds(read: unknown, sent: unknown): boolean {
  if (isNothing(sent)) return isNothing(read);
  if (Array.isArray(sent)) {
    return (
      Array.isArray(read) &&
      read.length === sent.length &&
      sent.every((item, index) => holds(read[index], item))
    );
  }
  if (typeof sent !== "object") return Object.is(read, sent) || (read === 0 && sent === 0);
  if (typeof read !== "object" || read === null) return false;
  return Object.entries(sent as object).every(([name, part]) =>
    holds((read as Record<string, unknown>)[name], part),
  );
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || ["[]", "{}"].includes(JSON.stringify(value));
}
