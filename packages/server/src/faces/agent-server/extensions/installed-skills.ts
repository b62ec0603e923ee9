import { isAbsolute, posix } from "node:path";
import type { InstallSkillRequest } from "@convoke/protocol";
import { Fault, invalidField } from "../../../lib/fault.ts";
import { mergeFound, type SkillsFound } from "../../../extensions/skills/load-skills.ts";
import { parseSkill } from "../../../extensions/skills/parse-skill.ts";
import { namesIn, readTextFile, type WorkspaceFiles } from "../../../extensions/skills/workspace-files.ts";
import type { StoredInstallation, StoredSettings } from "../../../settings/stored-settings.ts";

const maxInstalled = 100;

export type Kind = "installedSkills" | "installedPlugins";

/** The installed and enabled skills of a user, with the present contents of their directories. */
export async function installedSkills(files: WorkspaceFiles, settings: StoredSettings): Promise<SkillsFound> {
  const enabled = Object.values(settings.installedSkills).filter((item) => item.enabled);
  return mergeFound(await Promise.all(enabled.map((item) => readSkillDirectory(files, item.install_path))));
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

/** The directory of an installation; nothing is fetched, so it must exist. */
export function directoryOf({ source, ref, repo_path: inside }: InstallSkillRequest): string {
  const path = source.replace(/^file:\/\//, "");
  if (!isAbsolute(path) || ref) {
    throw invalidField(
      ["body", ref ? "ref" : "source"],
      "Only directories of the machine that tools run on can be installed; nothing is fetched from elsewhere.",
      "not_supported",
    );
  }
  if ((inside ?? "").split("/").includes(".."))
    throw invalidField(["body", "repo_path"], "This leads outside.");
  return posix.join(path, inside ?? "");
}

/** The settings with one installation added, or replaced when requested. */
export function install(
  settings: StoredSettings,
  kind: Kind,
  name: string,
  item: StoredInstallation,
  isForced: boolean,
): StoredSettings {
  if (Object.hasOwn(settings[kind], name) && !isForced) {
    throw new Fault("conflict", "already_installed", `${name} is installed already.`);
  }
  if (Object.keys(settings[kind]).length >= maxInstalled) {
    throw new Fault("conflict", "too_many_installed", `At most ${maxInstalled} can be installed.`);
  }
  return { ...settings, [kind]: { ...settings[kind], [name]: item } };
}

export function uninstall(settings: StoredSettings, kind: Kind, name: string): StoredSettings {
  requireInstalled(settings, kind, name);
  const { [name]: _, ...others } = settings[kind];
  return { ...settings, [kind]: others };
}

export function requireInstalled(settings: StoredSettings, kind: Kind, name: string): StoredInstallation {
  if (Object.hasOwn(settings[kind], name)) return settings[kind][name]!;
  throw new Fault("missing", "not_installed", `Nothing called ${name} is installed.`);
}

/** An installation as clients read it. */
export function showInstalled(name: string, item: StoredInstallation) {
  return { name, ...item, resolved_ref: null };
}
