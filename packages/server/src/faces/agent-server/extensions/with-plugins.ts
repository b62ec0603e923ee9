import { isAbsolute, posix } from "node:path";
import type { AgentDefinition, PluginSource, StartConversationRequest } from "@convoke/protocol";
import type { Warning } from "../../../events/warning.ts";
import { mergeHooks, parseHooks, toHookConfig } from "../../../extensions/hooks/hook-config.ts";
import { serversByName } from "../../../extensions/mcp/read-servers.ts";
import { loadPlugin, type PluginParts } from "../../../extensions/plugins/load-plugin.ts";
import type { SubAgent } from "../../../extensions/sub-agents/sub-agent.ts";
import type { WorkspaceFiles } from "../../../extensions/skills/workspace-files.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import { withoutUndefined } from "../../../lib/without-undefined.ts";

export type PluginAccess = {
  /** Of the machine that tools run on when a conversation has no sandbox. */
  readonly files: WorkspaceFiles;
  /** Throws for users without access to the folders of that machine. */
  readonly requireMachine: (userId: string) => void;
};

const maxPlugins = 20;
/** Characters of all skills together; they are stored with the conversation. */
const maxSkillChars = 1_000_000;

/**
 * Adds the contents of its plugins to a create request, as if the client had sent them: they are stored with the
 * conversation, secrets sealed, and survive a restart even when the directories change. Without access to a machine
 * plugins are refused.
 */
export async function withPlugins(
  body: StartConversationRequest,
  access: PluginAccess | null,
  userId: string,
): Promise<{ readonly body: StartConversationRequest; readonly warnings: readonly Warning[] }> {
  const sources = body.plugins ?? [];
  if (sources.length === 0) return { body, warnings: [] };
  if (access === null)
    throw invalidField(
      ["body", "plugins"],
      "Conversations of this place have no plugins. Leave this field out.",
    );
  if (sources.length > maxPlugins)
    throw invalidField(["body", "plugins"], `Send at most ${maxPlugins} plugins.`);
  access.requireMachine(userId);
  const plugins: PluginParts[] = [];
  for (const [index, source] of sources.entries()) {
    const directory = directoryOf(source, index);
    const loaded = await loadPlugin(access.files, directory);
    if (!loaded.ok)
      throw invalidField(["body", "plugins", index, "source"], `The directory ${loaded.reason}`);
    plugins.push(loaded.parts);
  }
  const chars = plugins.flatMap(({ skills }) => skills).reduce((sum, { content }) => sum + content.length, 0);
  if (chars > maxSkillChars) {
    const msg = `The skills of all plugins together have at most ${maxSkillChars} characters; these have ${chars}.`;
    throw invalidField(["body", "plugins"], msg);
  }
  return { body: plugins.reduce(withPlugin, body), warnings: plugins.flatMap(warningsOf) };
}

/** A revision of a repository is refused, because nothing is fetched. */
function directoryOf({ source, ref, repo_path: inside }: PluginSource, index: number): string {
  const refuse = (field: string, msg: string): never => {
    const loc = ["body", "plugins", index, field];
    throw new Fault("caller", "not_supported", msg, [{ loc, msg, type: "not_supported" }]);
  };
  const path = source.replace(/^file:\/\//, "");
  if (!isAbsolute(path) || path.includes("\0")) {
    const msg =
      "Plugins come from directories of the machine that tools run on, by their absolute path; nothing is fetched. Clone the repository there and name the directory.";
    return refuse("source", msg);
  }
  if (ref) return refuse("ref", "A directory is used as it is. Leave this field out.");
  if ((inside ?? "").split("/").includes("..")) return refuse("repo_path", "This leads outside.");
  return posix.join(path, inside ?? "");
}

/**
 * Skills and servers of a plugin replace those of the same name; hooks are appended, sub-agents only added under unused
 * names.
 */
function withPlugin(body: StartConversationRequest, plugin: PluginParts): StartConversationRequest {
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

function warningsOf({ name, problems }: PluginParts): Warning[] {
  if (problems.length === 0) return [];
  const paths = problems.map(({ path }) => path);
  const detail = `The plugin ${name} works without files that are no skills: ${paths.join(", ")}.`;
  return [{ code: "plugin_files_left_out", detail, paths }];
}
