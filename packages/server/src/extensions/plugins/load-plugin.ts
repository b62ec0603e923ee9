import { posix } from "node:path";
import { parseHooks, type HookSettings } from "../hooks/hook-config.ts";
import { readServers, serversByName } from "../mcp/read-servers.ts";
import { loadSkillFolder } from "../skills/load-skills.ts";
import type { LoadedSkill, SkillProblem } from "../skills/parse-skill.ts";
import { readTextFile, type WorkspaceFiles } from "../skills/workspace-files.ts";
import { readSubAgentFolder } from "../sub-agents/read-sub-agents.ts";
import { wrongOf, type SubAgent } from "../sub-agents/sub-agent.ts";
import { readPlugin } from "./read-plugin.ts";
import { mapTexts } from "../../lib/map-texts.ts";

/** The contents of a plugin for a conversation. */
export type PluginParts = {
  readonly name: string;
  readonly skills: readonly LoadedSkill[];
  /** Their MCP servers with all keys. */
  readonly agents: readonly SubAgent[];
  /** Null when it has none. */
  readonly hooks: HookSettings | null;
  readonly mcpServers: Readonly<Record<string, unknown>>;
  /** Invalid skill files; the rest works without them. */
  readonly problems: readonly SkillProblem[];
};

/** The reason is for people and follows the name of the directory. */
export type LoadedPlugin =
  | { readonly ok: true; readonly parts: PluginParts }
  | { readonly ok: false; readonly reason: string };

/**
 * Reads all of a plugin. Hooks and servers that cannot be understood make it unusable: a guard that never runs would be worse than
 * an error.
 */
export async function loadPlugin(files: WorkspaceFiles, directory: string): Promise<LoadedPlugin> {
  const plugin = await readPlugin(files, directory);
  if (plugin === null) return { ok: false, reason: "has no manifest of a plugin that can be read." };
  const [skills, commands, agents, hookFile, serverFile] = await Promise.all([
    loadSkillFolder(files, posix.join(directory, "skills")),
    loadSkillFolder(files, posix.join(directory, "commands")),
    readSubAgentFolder(files, posix.join(directory, "agents"), "project"),
    readJson(files, directory, "hooks/hooks.json"),
    readJson(files, directory, ".mcp.json"),
  ]);
  for (const file of [hookFile, serverFile]) if (!file.ok) return file;
  const hooks = readHooks(hookFile.ok ? hookFile.value : null);
  if (!hooks.ok) return hooks;
  const mcpServers = serversByName(serverFile.ok ? serverFile.value : null);
  const [fault] = readServers(mcpServers, []).faults;
  if (fault !== undefined)
    return {
      ok: false,
      reason: `has an MCP server that cannot be used, ${fault.loc.join(".")}: ${fault.msg}`,
    };
  const own = agents.map((agent) => withRoot(agent, directory) as SubAgent);
  for (const agent of own) {
    const wrong = wrongOf(agent);
    if (wrong !== null)
      return { ok: false, reason: `has a sub-agent ${agent.name} that cannot be used, ${wrong}` };
  }
  return {
    ok: true,
    parts: {
      name: plugin.name,
      skills: [...skills.skills, ...commands.skills.map((command) => toCommand(plugin.name, command))],
      agents: own,
      hooks: hooks.settings,
      mcpServers,
      problems: [...skills.problems, ...commands.problems],
    },
  };
}

/** A command is a skill that its name calls. */
function toCommand(plugin: string, skill: LoadedSkill): LoadedSkill {
  const name = `${plugin}:${skill.name}`;
  return { ...skill, name, trigger: { type: "keyword", keywords: [`/${name}`] } };
}

function readHooks(
  value: unknown,
): { ok: true; settings: HookSettings | null } | { ok: false; reason: string } {
  if (value === null) return { ok: true, settings: null };
  const inner = typeof value === "object" && "hooks" in value ? value.hooks : value;
  const parsed = parseHooks(inner, "file");
  if (parsed.ok) return parsed;
  return { ok: false, reason: `has hooks that cannot be used, ${parsed.loc.join(".")}: ${parsed.reason}` };
}

/** The value of a file with the plugin's own directory in it; null when there is no such file. */
async function readJson(
  files: WorkspaceFiles,
  directory: string,
  path: string,
): Promise<{ readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string }> {
  const file = await readTextFile(files, posix.join(directory, path));
  if (file === null) return { ok: true, value: null };
  if (file.isCut) return { ok: false, reason: `has a ${path} of more than 64 KiB.` };
  try {
    return { ok: true, value: withRoot(JSON.parse(file.text), directory) };
  } catch {
    // The parser's own words would show the file's.
    return { ok: false, reason: `has a ${path} that is not JSON.` };
  }
}

function withRoot(value: unknown, directory: string): unknown {
  return mapTexts(value, (text) => text.replaceAll("${CLAUDE_PLUGIN_ROOT}", directory));
}
