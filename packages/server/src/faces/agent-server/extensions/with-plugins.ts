import type { AgentDefinition, PluginSource, StartConversationRequest } from "@convoke/protocol";
import type { JoinedPlugin } from "../../../engine/conversation-config.ts";
import type { Warning } from "../../../events/warning.ts";
import { mergeHooks, parseHooks, toHookConfig } from "../../../extensions/hooks/hook-config.ts";
import { serversByName } from "../../../extensions/mcp/read-servers.ts";
import type { PluginParts } from "../../../extensions/plugins/load-plugin.ts";
import type { SubAgent } from "../../../extensions/sub-agents/sub-agent.ts";
import { invalidField } from "../../../lib/fault.ts";
import { withoutUndefined } from "../../../lib/without-undefined.ts";
import { openPlugin, type PluginAccess } from "./open-plugin.ts";

const maxPlugins = 20;
/** Characters of all skills together; they are stored with the conversation. */
const maxSkillChars = 1_000_000;

/**
 * Adds the contents of its plugins to a create request, as if the client had sent them: they are stored with the
 * conversation, secrets sealed, and survive a restart even when the directories change. Without access plugins are refused.
 */
export async function withPlugins(
  body: StartConversationRequest,
  access: PluginAccess | null,
  userId: string,
): Promise<{
  readonly body: StartConversationRequest;
  readonly warnings: readonly Warning[];
  readonly joined: readonly JoinedPlugin[];
}> {
  const sources: readonly PluginSource[] = body.plugins ?? [];
  if (sources.length === 0) return { body, warnings: [], joined: [] };
  if (access === null)
    throw invalidField(
      ["body", "plugins"],
      "Conversations of this place have no plugins. Leave this field out.",
    );
  if (sources.length > maxPlugins)
    throw invalidField(["body", "plugins"], `Send at most ${maxPlugins} plugins.`);
  const plugins: PluginParts[] = [];
  const joined: JoinedPlugin[] = [];
  for (const [index, source] of sources.entries()) {
    const opened = await openPlugin(source, access, userId, ["body", "plugins", index]);
    plugins.push(opened.parts);
    joined.push(opened.joined);
  }
  checkSkills(plugins, ["body", "plugins"]);
  return { body: plugins.reduce(withPlugin, body), warnings: plugins.flatMap(warningsOf), joined };
}

/** Refuses plugins whose skills together are too long to be stored with a conversation. */
export function checkSkills(plugins: readonly PluginParts[], loc: (string | number)[]): void {
  const chars = plugins.flatMap(({ skills }) => skills).reduce((sum, { content }) => sum + content.length, 0);
  if (chars <= maxSkillChars) return;
  const msg = `The skills of all plugins together have at most ${maxSkillChars} characters; these have ${chars}.`;
  throw invalidField(loc, msg);
}

/**
 * Skills and servers of a plugin replace those of the same name; hooks are appended, sub-agents only added under unused
 * names.
 */
export function withPlugin(body: StartConversationRequest, plugin: PluginParts): StartConversationRequest {
  const { agent, agent_definitions: definitions = [], hook_config: hooks = null } = body;
  const context = agent.agent_context ?? null;
  const names = new Set(plugin.skills.map(({ name }) => name));
  const others = (context?.skills ?? []).filter(({ name }) => !names.has(name));
  const known = new Set(definitions.map(({ name }) => name.trim()));
  const added = plugin.agents.filter(({ name }) => name.trim() !== "" && !known.has(name.trim()));
  const given = plugin.hooks === null ? null : parseHooks(hooks ?? {}, "request");
  return {
    ...body,
    agent: {
      ...agent,
      ...withoutUndefined({
        agent_context:
          plugin.skills.length > 0
            ? { ...noContext, ...context, skills: [...others, ...plugin.skills] }
            : undefined,
        mcp_config:
          Object.keys(plugin.mcpServers).length === 0
            ? undefined
            : { mcpServers: { ...serversByName(agent.mcp_config), ...plugin.mcpServers } },
      }),
    },
    ...withoutUndefined({
      agent_definitions: added.length === 0 ? undefined : [...definitions, ...added.map(toDefinition)],
      hook_config: given?.ok === true ? toHookConfig(mergeHooks(given.settings, plugin.hooks!)) : undefined,
    }),
  };
}

const noContext = { skills: [], load_user_skills: false, load_public_skills: false };

function toDefinition(agent: SubAgent): AgentDefinition {
  const { max_iteration_per_run: steps, max_budget_per_run: money, permission_mode: mode } = agent;
  const isSteps = typeof steps === "number" && Number.isInteger(steps) && steps >= 1;
  return withoutUndefined({
    name: agent.name.trim().slice(0, 100),
    description: agent.description ?? "",
    model: agent.model ?? "inherit",
    tools: agent.tools ?? [],
    skills: agent.skills ?? [],
    hooks: agent.hooks ?? null,
    mcp_config: agent.mcp_config ?? null,
    condenser: agent.condenser ?? null,
    worktree: agent.worktree,
    system_prompt: agent.system_prompt ?? "",
    when_to_use_examples: agent.when_to_use_examples ?? [],
    source: agent.source ?? null,
    permission_mode:
      mode === "always_confirm" || mode === "confirm_risky" || mode === "never_confirm" ? mode : undefined,
    max_iteration_per_run: isSteps ? steps : undefined,
    max_budget_per_run: typeof money === "number" && money > 0 ? money : undefined,
  });
}

export function warningsOf({ name, problems }: PluginParts): Warning[] {
  if (problems.length === 0) return [];
  const paths = problems.map(({ path }) => path);
  const detail = `The plugin ${name} works without files that are no skills: ${paths.join(", ")}.`;
  return [{ code: "plugin_files_left_out", detail, paths }];
}
