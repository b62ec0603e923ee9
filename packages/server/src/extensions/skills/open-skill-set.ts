import { posix } from "node:path";
import type { AgentContext } from "@convoke/protocol";
import { describeError } from "../../lib/describe-error.ts";
import {
  loadHomeSkills,
  loadProjectSkills,
  loadSkillFolder,
  mergeFound,
  type SkillsFound,
} from "./load-skills.ts";
import type { SkillFiles } from "./skill-cache.ts";
import { isAlwaysOn, SkillSet } from "./skill-set.ts";
import type { LoadedSkill } from "./parse-skill.ts";
import { orAfter } from "../../lib/or-after.ts";

export type SkillPlaces = {
  /** Of the machine that the tools run on; null when nothing can be read there. */
  readonly workspace: { readonly files: SkillFiles; readonly workingDir: string } | null;
  /** Of the server's own machine. */
  readonly server: {
    readonly files: SkillFiles;
    /** Of the person that the server runs for; null when it has no home to read. */
    readonly home: string | null;
    /** What the operator offers to everybody. */
    readonly publicFolder: string | null;
  } | null;
  /** What the person has installed, which counts as the person's own; absent: nothing. */
  readonly installed?: () => Promise<SkillsFound>;
};

/** What an agent's context may say about skills; the last is of newer clients. */
export type SkillContext = Partial<
  Pick<AgentContext, "skills" | "load_user_skills" | "load_public_skills" | "load_project_skills">
> & {
  readonly disabled_skills?: readonly string[];
};

const timeoutMs = 5_000;
const nothing: SkillsFound = { skills: [], problems: [] };

/** Which sources are read, and what each of them gave. */
export type SkillSources = {
  readonly public: SkillsFound;
  readonly user: SkillsFound;
  readonly project: SkillsFound;
};

/** Reads the requested sources; a slow or failing one is skipped and reported among the problems. */
export async function readSkillSources(
  places: SkillPlaces,
  wanted: { readonly public: boolean; readonly user: boolean; readonly project: boolean },
): Promise<SkillSources> {
  const { workspace, server, installed } = places;
  const [fromPublic, fromHome, fromInstalled, fromProject] = await Promise.all([
    wanted.public && server?.publicFolder
      ? inTime("public skills", loadSkillFolder(server.files, server.publicFolder))
      : nothing,
    wanted.user && server?.home ? inTime("user skills", loadHomeSkills(server.files, server.home)) : nothing,
    wanted.user && installed !== undefined ? inTime("installed skills", installed()) : nothing,
    wanted.project && workspace !== null
      ? inTime("project skills", loadProjectSkills(workspace.files, workspace.workingDir))
      : nothing,
  ]);
  return { public: fromPublic, user: mergeFound([fromHome, fromInstalled]), project: fromProject };
}

/**
 * The skills of a conversation: those of its project win over those that came with it, these over the person's, then public ones.
 * With `names` it has these alone, the person's and public ones among them, beside the notes of its own sources that always hold. What
 * a project says is read only when the context asks for it, also by name.
 */
export async function openSkillSet(
  context: SkillContext | null,
  places: SkillPlaces,
  { hasTool = true, names = null }: { hasTool?: boolean; names?: readonly string[] | null } = {},
): Promise<SkillSet> {
  const asked = {
    public: context?.load_public_skills === true,
    user: context?.load_user_skills === true,
    project: context?.load_project_skills === true,
  };
  const found = await readSkillSources(
    places,
    names === null ? asked : { ...asked, public: true, user: true },
  );
  const given: SkillsFound = {
    skills: await withRoots(context?.skills ?? [], places.workspace),
    problems: [],
  };
  const { skills, problems } = mergeFound([found.project, given, found.user, found.public]);
  const disabled = new Set(context?.disabled_skills ?? []);
  const unasked = [...(asked.user ? [] : found.user.skills), ...(asked.public ? [] : found.public.skills)];
  const isWanted = (skill: LoadedSkill): boolean =>
    names === null || names.includes(skill.name) || (isAlwaysOn(skill) && !unasked.includes(skill));
  return new SkillSet(
    skills.filter((skill) => !disabled.has(skill.name) && isWanted(skill)),
    problems,
    hasTool,
  );
}

/** Skills that a client read from files have their place too, where those files are on the machine of the tools. */
async function withRoots(
  skills: readonly LoadedSkill[],
  workspace: SkillPlaces["workspace"],
): Promise<readonly LoadedSkill[]> {
  const read = skills.map(async (skill): Promise<LoadedSkill> => {
    const { source, resources } = skill;
    if (workspace === null || !source || !posix.isAbsolute(source) || resources?.skill_root) return skill;
    const isThere = workspace.files.stat(source).then(
      () => true,
      // Of another machine, or gone: then the text is all that there is.
      () => false,
    );
    if (!(await orAfter(isThere, timeoutMs, false))) return skill;
    const none = { scripts: [], references: [], assets: [] };
    return { ...skill, resources: { ...none, ...resources, skill_root: posix.dirname(source) } };
  });
  return await Promise.all(read);
}

async function inTime(what: string, loading: Promise<SkillsFound>): Promise<SkillsFound> {
  const failed = (reason: string): SkillsFound => ({ skills: [], problems: [{ path: what, reason }] });
  try {
    return await orAfter(loading, timeoutMs, failed("They could not be read in time."));
  } catch (error) {
    return failed(describeError(error));
  }
}
