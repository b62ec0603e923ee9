import { posix } from "node:path";
import { stampOf, type SkillFiles } from "./skill-cache.ts";
import { parseSkill, type LoadedSkill, type ParsedSkill, type SkillProblem } from "./parse-skill.ts";
import { ParseTurns } from "./parse-turns.ts";
import { findMarkdown, findRepository, maxFiles, namesIn, readTextFile } from "./workspace-files.ts";

/** Where a project, and a person's home, keep skills; what comes first wins. */
const skillFolders = [".agents/skills", ".openhands/skills", ".openhands/microagents"] as const;

/** Instructions that other tools read too, by the name of the skill they become. */
const instructionFiles: ReadonlyMap<string, string> = new Map([
  [".cursorrules", "cursorrules"],
  ["agents.md", "agents"],
  ["agent.md", "agents"],
  ["claude.md", "claude"],
  ["gemini.md", "gemini"],
]);

export type SkillsFound = {
  readonly skills: readonly LoadedSkill[];
  readonly problems: readonly SkillProblem[];
};

/** The skills and instructions of a project: of its directory, then of the root of its repository. */
export async function loadProjectSkills(files: SkillFiles, workingDir: string): Promise<SkillsFound> {
  const turns = new ParseTurns();
  const repository = await findRepository(files, workingDir);
  const roots = repository === null || repository === workingDir ? [workingDir] : [workingDir, repository];
  const found = await Promise.all(
    roots.flatMap((root) => [
      loadInstructions(files, root),
      ...skillFolders.map((folder) => loadSkillFolder(files, posix.join(root, folder), turns)),
    ]),
  );
  return mergeFound(found);
}

/** The skills below a person's home. */
export async function loadHomeSkills(files: SkillFiles, home: string): Promise<SkillsFound> {
  const turns = new ParseTurns();
  return mergeFound(
    await Promise.all(skillFolders.map((folder) => loadSkillFolder(files, posix.join(home, folder), turns))),
  );
}

/** The skills of one folder. */
export async function loadSkillFolder(
  files: SkillFiles,
  folder: string,
  turns = new ParseTurns(),
): Promise<SkillsFound> {
  const paths = await findMarkdown(files, folder);
  const parsed = await Promise.all(paths.map(async (path) => await readSkill(files, path, turns)));
  return mergeFound([
    {
      skills: parsed.flatMap((item) => (item.ok ? [item.skill] : [])),
      problems: parsed.flatMap((item) => (item.ok ? [] : [item.problem])),
    },
  ]);
}

async function readSkill(files: SkillFiles, path: string, turns: ParseTurns): Promise<ParsedSkill> {
  const stamp = await stampOf(files, path);
  const cached = stamp === null ? null : (files.skillCache?.find(path, stamp) ?? null);
  if (cached !== null) return cached;
  const file = await readTextFile(files, path);
  if (file === null) return { ok: false, problem: { path, reason: "The file cannot be read." } };
  const parsed = await parseSkill(file, turns);
  if (stamp !== null) files.skillCache?.keep(path, stamp, parsed);
  return parsed;
}

/** One list in which the first of a name wins. */
export function mergeFound(found: readonly SkillsFound[]): SkillsFound {
  const byName = new Map<string, LoadedSkill>();
  for (const { skills } of found) {
    for (const skill of skills) if (!byName.has(skill.name)) byName.set(skill.name, skill);
  }
  return {
    skills: [...byName.values()].slice(0, maxFiles),
    problems: found.flatMap(({ problems }) => problems),
  };
}

async function loadInstructions(files: SkillFiles, root: string): Promise<SkillsFound> {
  const names = (await namesIn(files, root)).filter(({ type }) => type === "file").map(({ name }) => name);
  const wanted = names.filter((name) => instructionFiles.has(name.toLowerCase()));
  const read = await Promise.all(wanted.map((name) => readTextFile(files, posix.join(root, name))));
  const texts = new Set<string>();
  const skills = wanted.flatMap((fileName, index): LoadedSkill[] => {
    const file = read[index];
    // The same text under two names, as links often have it, counts once.
    if (!file || file.text.trim() === "" || texts.has(file.text)) return [];
    texts.add(file.text);
    const cut = file.isCut
      ? "\n\n(The rest of this file is too long to be shown; read it when you need it.)"
      : "";
    const name = instructionFiles.get(fileName.toLowerCase())!;
    return [
      {
        name,
        content: file.text.trim() + cut,
        trigger: null,
        source: file.path,
        is_agentskills_format: false,
      },
    ];
  });
  return { skills, problems: [] };
}
