import { posix } from "node:path";
import type { StoredSettings } from "../../settings/stored-settings.ts";
import { mergeFound, type SkillsFound } from "../skills/load-skills.ts";
import { parseSkill } from "../skills/parse-skill.ts";
import { namesIn, readTextFile, type WorkspaceFiles } from "../skills/workspace-files.ts";
import type { ExtensionSources } from "./extension-sources.ts";

/** The installed and enabled skills of a user, with the present contents of their folders. */
export async function installedSkills(
  sources: Pick<ExtensionSources, "openInstalled">,
  userId: string,
  settings: StoredSettings,
): Promise<SkillsFound> {
  const enabled = Object.entries(settings.installedSkills).filter(([, item]) => item.enabled);
  const found = enabled.map(async ([name, item]): Promise<SkillsFound> => {
    const opened = await sources.openInstalled(userId, item);
    if (opened !== null) return await readSkillDirectory(opened.files, opened.directory);
    return { skills: [], problems: [{ path: name, reason: "Its copy is not in the store any more." }] };
  });
  return mergeFound(await Promise.all(found));
}

/** The one skill of a directory. */
export async function readSkillDirectory(files: WorkspaceFiles, directory: string): Promise<SkillsFound> {
  const names = await namesIn(files, directory);
  const entry = names.find(({ name, type }) => type === "file" && /^skill\.md$/i.test(name));
  const path = posix.join(directory, entry?.name ?? "SKILL.md");
  const file = await readTextFile(files, path);
  if (file === null) return { skills: [], problems: [{ path, reason: "There is no such file." }] };
  const parsed = await parseSkill(file);
  return parsed.ok ? { skills: [parsed.skill], problems: [] } : { skills: [], problems: [parsed.problem] };
}
