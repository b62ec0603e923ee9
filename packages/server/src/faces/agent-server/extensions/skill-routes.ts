import { isAbsolute, resolve } from "node:path";
import type {
  HooksRequest,
  SkillInfo,
  SkillsRequest,
  SubAgentInfo,
  SubAgentsRequest,
} from "@convoke/protocol";
import type { RouteHandler } from "../../../http/mount.ts";
import { invalidField } from "../../../lib/fault.ts";
import { hookMoments, readHookFile } from "../../../extensions/hooks/hook-config.ts";
import { loadSkillFolder, mergeFound, type SkillsFound } from "../../../extensions/skills/load-skills.ts";
import { readSkillSources } from "../../../extensions/skills/open-skill-set.ts";
import type { LoadedSkill } from "../../../extensions/skills/parse-skill.ts";
import type { WorkspaceFiles } from "../../../extensions/skills/workspace-files.ts";
import { showSubAgent } from "../../../extensions/sub-agents/sub-agent.ts";
import { findSubAgents } from "../../../extensions/sub-agents/sub-agent-set.ts";
import type { ExtensionSources } from "../../../extensions/sources/extension-sources.ts";
import { installedSkills } from "../../../extensions/sources/installed-skills.ts";
import type { SettingsStore } from "../../../settings/settings-store.ts";

export type SkillRouteDeps = {
  readonly settings: SettingsStore;
  readonly sources: ExtensionSources;
  /** Of the machine that tools run on when a conversation has no sandbox. */
  readonly files: WorkspaceFiles;
  readonly home: string | null;
  readonly publicFolder: string | null;
  /** Relative directories of clients are below this one. */
  readonly workspaceRoot: string;
};

type MoreSkills = SkillsRequest & { readonly marketplace_path?: string | null };

/** Skills and hooks of a workspace. */
export function skillHandlers(deps: SkillRouteDeps) {
  const { settings, files, home, publicFolder, workspaceRoot } = deps;
  return {
    listSkills: async ({ caller, body }) => {
      const request = body as MoreSkills;
      const directory = readDirectory(request.project_dir ?? null, workspaceRoot);
      const found = await readSkillSources(
        {
          workspace: directory === null ? null : { files, workingDir: directory },
          server: { files, home, publicFolder },
        },
        {
          public: request.load_public !== false,
          user: request.load_user !== false,
          project: request.load_project !== false,
        },
      );
      const isUser = request.load_user !== false;
      const stored = (await settings.load(caller.userId)).settings;
      const installed = isUser ? await installedSkills(deps.sources, caller.userId, stored) : none;
      const sandbox = sandboxSkill(request);
      const all = mergeFound([
        found.project,
        found.user,
        installed,
        found.public,
        { skills: sandbox, problems: [] },
      ]);
      const sources = {
        sandbox: sandbox.length,
        registered_marketplaces: 0,
        sdk_base: found.public.skills.length + found.user.skills.length + installed.skills.length,
        org: 0,
        project: found.project.skills.length,
      };
      return { json: { skills: all.skills.map(showSkill), sources, problems: all.problems } };
    },

    syncSkills: async () => {
      const { skills } = publicFolder === null ? none : await loadSkillFolder(files, publicFolder);
      const message = `The public directory of this server has ${skills.length} skills; skills of git repositories are refreshed one by one.`;
      return { json: { status: "success", message } };
    },

    loadHooks: async ({ body }) => {
      const directory = readDirectory((body as HooksRequest).project_dir ?? null, workspaceRoot);
      const own = directory === null ? null : await readHookFile(files, directory);
      const found = own ?? (home === null ? null : await readHookFile(files, home));
      const moments = Object.keys(hookMoments) as (keyof typeof hookMoments)[];
      const config =
        found === null ? null : Object.fromEntries(moments.map((moment) => [moment, found[moment]]));
      return { json: { hook_config: config } };
    },
  } satisfies Record<string, RouteHandler>;
}

/** Sub-agents in a directory, in the person's home, and built-in ones. */
export async function listSubAgents(
  request: SubAgentsRequest,
  { files, home, workspaceRoot }: SkillRouteDeps,
): Promise<SubAgentInfo[]> {
  const directory = readDirectory(request.project_dir ?? null, workspaceRoot);
  const agents = await findSubAgents({
    workspace: request.load_project === false || directory === null ? null : { files, workingDir: directory },
    server: request.load_user === false ? null : { files, home },
  });
  const isWanted = (agent: (typeof agents)[number]): boolean =>
    request.load_builtin !== false || agent.is_builtin !== true;
  return agents.filter(isWanted).map(showSubAgent);
}

/** An absolute path, or one below the root of workspaces; null when none is given. */
export function readDirectory(given: string | null, workspaceRoot: string): string | null {
  if (given === null || given.trim() === "") return null;
  if (given.includes("\0")) throw invalidField(["body", "project_dir"], "This is no path.");
  return isAbsolute(given) ? resolve(given) : resolve(workspaceRoot, given);
}

const none: SkillsFound = { skills: [], problems: [] };

export function showSkill(skill: LoadedSkill): SkillInfo & { readonly disable_model_invocation: boolean } {
  const { trigger } = skill;
  const isListed = skill.is_agentskills_format === true;
  return {
    name: skill.name,
    type: isListed ? "agentskills" : trigger ? "knowledge" : "repo",
    content: skill.content,
    triggers: !trigger ? [] : "keywords" in trigger ? [...trigger.keywords] : [...trigger.triggers],
    source: skill.source ?? null,
    description: skill.description ?? null,
    is_agentskills_format: isListed,
    disable_model_invocation: skill.disable_model_invocation === true,
  };
}

/** A skill that lists the ports of an agent that people can see, with their URLs. */
function sandboxSkill({ sandbox_config: config }: SkillsRequest): LoadedSkill[] {
  const urls = config?.exposed_urls ?? [];
  if (urls.length === 0) return [];
  const lines = urls.map(
    ({ name, url, port }) => `- ${name}: what listens on port ${port} is seen at ${url}`,
  );
  const content = `People can open these ports of the machine you work on:\n${lines.join("\n")}`;
  return [{ name: "exposed-ports", content, trigger: null, source: "sandbox", is_agentskills_format: false }];
}
