import { isAbsolute, resolve } from "node:path";
import type {
  SkillInfo,
  SkillsRequest,
  SubAgentInfo,
  SubAgentsRequest,
  agentServerRoutes,
} from "@convoke/protocol";
import type { Handlers } from "../../../http/mount.ts";
import { invalidField } from "../../../lib/fault.ts";
import { hookMoments, readHookFile } from "../../../extensions/hooks/hook-config.ts";
import { loadSkillFolder, mergeFound, type SkillsFound } from "../../../extensions/skills/load-skills.ts";
import { readSkillSources } from "../../../extensions/skills/open-skill-set.ts";
import type { LoadedSkill } from "../../../extensions/skills/parse-skill.ts";
import { showSubAgent } from "../../../extensions/sub-agents/sub-agent.ts";
import { findSubAgents } from "../../../extensions/sub-agents/sub-agent-set.ts";
import { installedSkills } from "../../../extensions/sources/installed-skills.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** Skills and hooks of a workspace. */
export function skillHandlers(deps: FaceDeps) {
  const { settings, workspaceRoot } = deps;
  const { files, home, publicFolder } = skillPlaces(deps);
  return {
    listSkills: async ({ caller, body: request }) => {
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
      const directory = readDirectory(body.project_dir ?? null, workspaceRoot);
      const own = directory === null ? null : await readHookFile(files, directory);
      const found = own ?? (home === null ? null : await readHookFile(files, home));
      const moments = Object.keys(hookMoments) as (keyof typeof hookMoments)[];
      const config =
        found === null ? null : Object.fromEntries(moments.map((moment) => [moment, found[moment]]));
      return { json: { hook_config: config } };
    },
  } satisfies Partial<Handlers<typeof agentServerRoutes>>;
}

/** Sub-agents in a directory, in the person's home, and built-in ones. */
export async function listSubAgents(request: SubAgentsRequest, deps: FaceDeps): Promise<SubAgentInfo[]> {
  const { files, home } = skillPlaces(deps);
  const directory = readDirectory(request.project_dir ?? null, deps.workspaceRoot);
  const agents = await findSubAgents({
    workspace: request.load_project === false || directory === null ? null : { files, workingDir: directory },
    server: request.load_user === false ? null : { files, home },
  });
  const isWanted = (agent: (typeof agents)[number]): boolean =>
    request.load_builtin !== false || agent.is_builtin !== true;
  return agents.filter(isWanted).map(showSubAgent);
}

/** Where skills of people are; files are those of the machine that tools run on when a conversation has no sandbox. */
export function skillPlaces({ skills, toolHost }: Pick<FaceDeps, "skills" | "toolHost">) {
  const { files, home, publicFolder } = skills.server;
  return { files: skills.filesOf(toolHost) ?? files, home, publicFolder };
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
