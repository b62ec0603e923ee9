import type {
  GitProviderRepositoryPage,
  SkillCatalogResponse,
  ToolCatalogResponse,
  catalogRoutes,
} from "@convoke/protocol";
import { mergeFound } from "../../../extensions/skills/load-skills.ts";
import { readSkillSources } from "../../../extensions/skills/open-skill-set.ts";
import type { Handlers } from "../../../http/mount.ts";
import { usualToolsOf } from "../../../settings/usual-tools.ts";
import { installedSkills } from "../../../extensions/sources/installed-skills.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { showSkill, skillPlaces } from "./skill-routes.ts";

/** Catalogues for newer clients; `tools` are the names of those that agents can request. Source: agent server 1.58. */
export function catalogHandlers(deps: FaceDeps, tools: readonly string[]) {
  const { settings, sources } = deps;
  return {
    getToolCatalog: () => {
      const usual = new Set(usualToolsOf(tools).map(({ name }) => name));
      const json: ToolCatalogResponse = {
        tools: tools.map((name) => ({
          name,
          user_selectable: true,
          usable: true,
          description: descriptions[name] ?? "",
          in_default_set: usual.has(name),
        })),
      };
      return { json };
    },

    getSkillCatalog: async ({ caller }) => {
      const found = await readSkillSources(
        { workspace: null, server: skillPlaces(deps) },
        { public: true, user: true, project: false },
      );
      const stored = (await settings.load(caller.userId)).settings;
      const own = mergeFound([found.user, await installedSkills(sources, caller.userId, stored)]);
      const json: SkillCatalogResponse = {
        skills: [
          ...own.skills.map((skill) => ({ ...showSkill(skill), origin: "user" as const })),
          ...found.public.skills.map((skill) => ({ ...showSkill(skill), origin: "public" as const })),
        ],
      };
      return { json };
    },

    searchGitRepositories: async ({ caller, query }) => {
      const stored = (await settings.load(caller.userId)).settings;
      const json: GitProviderRepositoryPage = {
        items: [],
        next_page_id: null,
        missing_token: !stored.providerTokens[query.provider]?.token,
      };
      return { json };
    },
  } satisfies Partial<Handlers<typeof catalogRoutes>>;
}

/** Descriptions for people, not for models. */
const descriptions: Readonly<Record<string, string>> = {
  browser_tool_set: "Uses web pages: opens, reads, clicks and types.",
  terminal: "Runs commands in a shell that stays open.",
  terminal_tool_set: "Runs commands in several terminals, also while the agent does other things.",
  file_editor: "Views, writes and edits files.",
  read_file: "Shows a file.",
  write_file: "Writes a whole file.",
  edit: "Replaces text in a file.",
  list_directory: "Lists what is in a folder.",
  planning_file_editor: "Views files and writes the plan, and nothing else.",
  task_tracker: "Keeps a list of what is to be done.",
  glob: "Finds files by their names.",
  grep: "Finds files by what is in them.",
  task_tool_set: "Gives pieces of the work to sub-agents.",
};
