import { posix } from "node:path";
import type { LoadedSkill } from "../../../extensions/skills/parse-skill.ts";
import { textOf } from "../../../lib/json-object.ts";
import { readCanvasManifest } from "../../../extensions/sources/canvas-manifest.ts";
import { describePlugin, type DescribedPlugin } from "../../../extensions/sources/describe-folder.ts";
import type { OpenedSource } from "../../../extensions/sources/extension-sources.ts";
import { readSkillDirectory } from "../../../extensions/sources/installed-skills.ts";
import { invalidField } from "../../../lib/fault.ts";
import type { CanvasExtensionManifest } from "@convoke/protocol";

type Loc = readonly (string | number)[];

/** A skill that can be installed; throws a `Fault` that names the field. */
export async function requireSkill(
  opened: OpenedSource,
  loc: Loc,
): Promise<{ readonly skill: LoadedSkill; readonly version: string }> {
  const { skills, problems } = await readSkillDirectory(opened.files, opened.directory);
  const [skill] = skills;
  if (skill === undefined) {
    const reason = problems[0]?.reason ?? "";
    throw invalidField(
      [...loc],
      `There is no skill that can be read: ${reason}${elsewhere(opened, skillFile)}`,
    );
  }
  return { skill, version: textOf(skill.metadata?.["version"]) ?? "" };
}

/** A plugin that can be used; throws a `Fault` that names the field. */
export async function requirePlugin(
  opened: OpenedSource,
  loc: Loc,
): Promise<Extract<DescribedPlugin, { ok: true }>> {
  const described = await describePlugin(opened.files, opened.directory);
  if (!described.ok)
    throw invalidField([...loc], `The folder ${described.reason}${elsewhere(opened, pluginFile)}`);
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(described.parts.name))
    throw invalidField([...loc], "There is no plugin with a readable manifest and a plain name.");
  return described;
}

export async function requireCanvasExtension(
  { files, directory }: Pick<OpenedSource, "files" | "directory">,
  loc: Loc,
): Promise<CanvasExtensionManifest> {
  const read = await readCanvasManifest(files, directory);
  if (read.ok) return read.manifest;
  throw invalidField([...loc], `The folder ${read.reason}.`);
}

export const skillHead = async (opened: OpenedSource, loc: Loc) => {
  const { skill, version } = await requireSkill(opened, loc);
  return { name: skill.name, version, description: skill.description ?? "" };
};

export const pluginHead = async (opened: OpenedSource, loc: Loc) => {
  const { parts, manifest } = await requirePlugin(opened, loc);
  const { version, description } = manifest;
  return { name: parts.name, version: textOf(version) ?? "", description: textOf(description) ?? "" };
};

export const canvasHead = async (opened: OpenedSource, loc: Loc) => {
  const { name, version, description = "" } = await requireCanvasExtension(opened, loc);
  return { name, version, description };
};

const skillFile = /(?:^|\/)skill\.md$/i;
const pluginFile = /(?:^|\/)\.(?:claude-)?plugin\/plugin\.json$/;

/** Where the repository has one after all. */
function elsewhere({ copy }: OpenedSource, file: RegExp): string {
  if (copy === null) return "";
  const found = copy.content.filter(({ path }) => file.test(path));
  const folders = found.map(({ path }) => posix.join(copy.inside, path.replace(file, "")));
  const named = folders.filter((folder) => folder !== "." && folder !== copy.inside).slice(0, 10);
  return named.length === 0 ? "" : ` Name one of these with repo_path: ${named.join(", ")}.`;
}
