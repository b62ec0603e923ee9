import { posix } from "node:path";
import type { PluginInfo } from "@convoke/protocol";
import { textOf } from "../skills/parse-skill.ts";
import { loadSkillFolder } from "../skills/load-skills.ts";
import { namesIn, readTextFile, type WorkspaceFiles } from "../skills/workspace-files.ts";

const manifests = [".plugin/plugin.json", ".claude-plugin/plugin.json"];
/** Where a project, and a person's home, keep plugins. */
const pluginFolders = [".agents/plugins", ".openhands/plugins"];
const maxFilesListed = 200;

/** The plugin in a directory; null when it has no manifest that can be read. */
export async function readPlugin(
  files: WorkspaceFiles,
  directory: string,
): Promise<Required<PluginInfo> | null> {
  for (const manifest of manifests) {
    const file = await readTextFile(files, posix.join(directory, manifest));
    if (file === null || file.isCut) continue;
    const head = readManifest(file.text);
    if (head === null) return null;
    const { skills } = await loadSkillFolder(files, posix.join(directory, "skills"));
    const names = (await namesIn(files, directory)).map(({ name }) => name);
    return {
      name: textOf(head["name"]) ?? posix.basename(directory),
      version: textOf(head["version"]) ?? "",
      description: textOf(head["description"]) ?? "",
      path: directory,
      skills: skills.map(({ name, description }) => ({ name, description: description ?? null })),
      files: names.slice(0, maxFilesListed),
    };
  }
  return null;
}

/** The plugins that a directory keeps for its agents. */
export async function listPlugins(files: WorkspaceFiles, root: string): Promise<Required<PluginInfo>[]> {
  const found = await Promise.all(
    pluginFolders.map(async (folder) => {
      const path = posix.join(root, folder);
      const names = (await namesIn(files, path)).filter(({ type }) => type === "directory").slice(0, 50);
      return await Promise.all(names.map(({ name }) => readPlugin(files, posix.join(path, name))));
    }),
  );
  return found.flat().flatMap((plugin) => plugin ?? []);
}

function readManifest(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    // A manifest that is no JSON describes no plugin.
    return null;
  }
}
