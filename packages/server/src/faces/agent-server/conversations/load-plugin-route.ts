import type { StartConversationRequest, controlRoutes } from "@convoke/protocol";
import type { PluginChange } from "../../../engine/add-plugin.ts";
import type { ConversationConfig, ConversationSecrets } from "../../../engine/conversation-config.ts";
import { secretValues } from "../../../engine/secret-values.ts";
import { SkillSet } from "../../../extensions/skills/skill-set.ts";
import { openAsked } from "../../../http/asked-conversation.ts";
import type { Handlers } from "../../../http/mount.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import { withoutUndefined } from "../../../lib/without-undefined.ts";
import { hideSecrets } from "../../../settings/secret-fields.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { openPlugin, type OpenedPlugin } from "../extensions/open-plugin.ts";
import {
  hiddenDefinition,
  readAgentDefinitions,
  subAgentSecrets,
} from "../extensions/read-agent-definitions.ts";
import { checkSkills, warningsOf, withPlugin } from "../extensions/with-plugins.ts";
import { checkHiddenValues } from "./check-secret-sources.ts";

const loc = ["body", "plugin_ref"];
/** Of one conversation, those of its start included. */
const maxPlugins = 20;

/** Adds a plugin to a conversation that exists. Source: agent server 1.58. */
export function loadPluginHandlers(deps: FaceDeps) {
  return {
    loadPlugin: async (request) => {
      const { caller } = request;
      const conversation = await openAsked(deps.directory, request);
      if (conversation.configuration.config.sandbox_id !== undefined)
        throw invalidField(loc, "Conversations in sandboxes have no plugins.");
      const { plugin_ref: named } = request.body;
      const opened = await openPlugin(readReference(named), deps, caller.userId, loc, "missing").catch(
        (error: unknown) => {
          throw asWritten(error);
        },
      );
      checkSkills([opened.parts], loc);
      await conversation.addPlugin((config, secrets) => changeOf(opened, config, secrets));
      return { json: { success: true } };
    },
  } satisfies Partial<Handlers<typeof controlRoutes>>;
}

/** The caller wrote one field: what is wrong with a part of it is wrong with that field. */
function asWritten(error: unknown): unknown {
  if (!(error instanceof Fault) || error.fields.length === 0) return error;
  const message = error.message.replace(/^body\.plugin_ref\.\w+: /, `${loc.join(".")}: `);
  const fields = error.fields.map((field) => ({ ...field, loc: [...loc] }));
  const { kind, code, facts, retryAfterSeconds } = error;
  return new Fault(kind, code, message, fields, withoutUndefined({ cause: error, facts, retryAfterSeconds }));
}

/** A name, a path, or an address with `@commit` and `#folder` behind it. */
function readReference(text: string): { source: string; ref?: string; repo_path?: string } {
  const [, source = text, ref, inside] =
    /^(.+?)(?:@([0-9a-f]{64}|[0-9a-f]{40}))?(?:#(.+))?$/.exec(text.trim()) ?? [];
  return withoutUndefined({ source, ref, repo_path: inside });
}

/** What a create request with the plugin would have stored, on top of what the conversation has. */
function changeOf(
  { parts, joined }: OpenedPlugin,
  config: ConversationConfig,
  secrets: ConversationSecrets,
): PluginChange {
  const { joined_plugins: known = [], agent_definitions: agents = [], requested = {} } = config;
  if (known.some(({ name }) => name === joined.name))
    throw new Fault(
      "conflict",
      "plugin_loaded",
      `The conversation has the plugin ${joined.name} already. Start a new conversation for another version.`,
    );
  if (known.length >= maxPlugins)
    throw new Fault("conflict", "too_many_plugins", `A conversation has at most ${maxPlugins} plugins.`);
  const before = {
    agent: { ...config.agent, mcp_config: secrets.mcp ?? {} },
    agent_definitions: agents,
    hook_config: config.hook_config ?? null,
  } as unknown as StartConversationRequest;
  const after = withPlugin(before, parts);
  const added = (after.agent_definitions ?? []).slice(agents.length);
  const definitions = readAgentDefinitions(added);
  const hidden = subAgentSecrets(added);
  const mcp = after.agent.mcp_config ?? {};
  const all: ConversationSecrets = withoutUndefined({
    ...secrets,
    mcp: Object.keys(mcp).length === 0 ? undefined : mcp,
    sub_agents: merged(secrets.sub_agents, hidden.sub_agents),
    sub_agent_condensers: merged(secrets.sub_agent_condensers, hidden.sub_agent_condensers),
  });
  checkHiddenValues(secretValues(all), loc);
  const { source, repo_path, commit } = joined;
  return {
    secrets: all,
    config: withoutUndefined({
      agent: {
        ...config.agent,
        ...withoutUndefined({
          agent_context: after.agent.agent_context ?? undefined,
          mcp_config: parts.mcpServers === undefined || all.mcp === undefined ? undefined : hideSecrets(mcp),
        }),
      },
      agent_definitions:
        added.length === 0 ? undefined : [...agents, ...(definitions.agent_definitions ?? [])],
      sub_agent_hooks: merged(config.sub_agent_hooks, definitions.sub_agent_hooks),
      hook_config: parts.hooks === null ? undefined : after.hook_config,
      joined_plugins: [...known, joined],
      requested: {
        ...requested,
        ...(added.length === 0
          ? {}
          : { agent_definitions: [...(requested.agent_definitions ?? []), ...added.map(hiddenDefinition)] }),
        plugins: [...(requested.plugins ?? []), { source, ref: commit, repo_path }],
      },
    }),
    note: noteOf(parts, config),
    warnings: [...warningsOf(parts), ...(definitions.warnings ?? [])],
  };
}

/** For a model whose system prompt did not list these skills. */
function noteOf(
  { name, skills }: OpenedPlugin["parts"],
  { agent, knows_newer_kinds: hasTool }: ConversationConfig,
): string | null {
  const blocks = new SkillSet(skills, [], hasTool === true).promptBlocks(agent.llm.model ?? "");
  return blocks.length === 0 ? null : [`The plugin ${name} was added by the user.`, ...blocks].join("\n");
}

function merged<Value>(
  before: Readonly<Record<string, Value>> | undefined,
  more: Readonly<Record<string, Value>> | undefined,
): Readonly<Record<string, Value>> | undefined {
  return more === undefined ? before : { ...before, ...more };
}
