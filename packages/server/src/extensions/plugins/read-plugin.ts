import { posix } from "node:path";
import type { PluginInfo } from "@convoke/protocol";
import { isObject, textOf, type JsonObject } from "../../lib/json-object.ts";
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
  const head = await readManifest(files, directory);
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

/** The first manifest that is short enough; null when there is none, or it is no object. */
export async function readManifest(files: WorkspaceFiles, directory: string): Promise<JsonObject | null> {
  for (const manifest of manifests) {
    const file = await readTextFile(files, posix.join(directory, manifest));
    if (file === null || file.isCut) continue;
    try {
      const value: unknown = JSON.parse(file.text);
      return isObject(value) ? value : null;
    } catch {
      // A manifest that is no JSON describes no plugin.
      return null;
    }
  }
  return null;
}
