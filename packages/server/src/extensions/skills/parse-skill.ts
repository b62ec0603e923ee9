import { posix } from "node:path";
import type { Skill } from "@convoke/protocol";
import { describeError } from "../../lib/describe-error.ts";
import { TooSlow } from "../../lib/time-limit.ts";
import { ParseTurns } from "./parse-turns.ts";
import type { FoundFile } from "./workspace-files.ts";
import { isObject, objectOr, textOf, type JsonObject } from "../../lib/json-object.ts";

/** A skill with what newer clients know of one besides. */
export type LoadedSkill = Skill & { readonly disable_model_invocation?: boolean | undefined };

/** A file that is no skill although it should be one; the reason is for people. */
export type SkillProblem = { readonly path: string; readonly reason: string };

export type ParsedSkill =
  | { readonly ok: true; readonly skill: LoadedSkill }
  | { readonly ok: false; readonly problem: SkillProblem };

const maxDescriptionChars = 1024;

/** Reads a Markdown file with an optional YAML head as a skill. Never throws. */
export async function parseSkill(file: FoundFile, turns = new ParseTurns()): Promise<ParsedSkill> {
  const refuse = (reason: string): ParsedSkill => ({ ok: false, problem: { path: file.path, reason } });
  if (file.isCut) return refuse("The file is longer than 64 KiB.");
  const split = await splitHead(file.text, turns);
  if (!split.ok) return refuse(split.reason);
  const { head, body } = split;
  const isFolder = /^skill\.md$/i.test(posix.basename(file.path));
  const fallback = isFolder
    ? posix.basename(posix.dirname(file.path))
    : posix.basename(file.path).replace(/\.md$/i, "");
  const name = textOf(head["name"]) ?? fallback;
  if (isFolder && !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) {
    return refuse("The name of a skill folder has lower-case letters, digits and single hyphens.");
  }
  if (isFolder && name !== fallback) return refuse(`The name ${name} is not that of its folder.`);
  if (name.length > 255) return refuse("The name is longer than 255 characters.");
  const inputs = inputsOf(head["inputs"]);
  return {
    ok: true,
    skill: {
      name,
      content: body.trim(),
      trigger: triggerOf(name, textsOf(head["triggers"]), inputs.length > 0),
      source: file.path,
      inputs,
      is_agentskills_format: isFolder,
      description: textOf(head["description"])?.slice(0, maxDescriptionChars) ?? null,
      license: textOf(head["license"]),
      compatibility: textOf(head["compatibility"]),
      metadata: metadataOf(head["metadata"]),
      allowed_tools: allowedToolsOf(head["allowed-tools"]),
      ...(isFolder
        ? { resources: { skill_root: posix.dirname(file.path), scripts: [], references: [], assets: [] } }
        : {}),
      ...(head["disable-model-invocation"] === true ? { disable_model_invocation: true } : {}),
    },
  };
}

/** The YAML between two lines of three dashes at the start, and the rest. */
export async function splitHead(
  text: string,
  turns: ParseTurns,
): Promise<
  | { readonly ok: true; readonly head: JsonObject; readonly body: string }
  | { readonly ok: false; readonly reason: string }
> {
  const found = findHead(text);
  if (found === null) return { ok: true, head: {}, body: text };
  if (found.yaml.length > longestHead) return { ok: false, reason: "The head is longer than 8 KiB." };
  // By its default alone: bundled, a CommonJS package has no other names when it is imported late.
  const { default: yaml } = await import("yaml");
  try {
    const head: unknown =
      (await turns.take(() =>
        yaml.parse(found.yaml, { maxAliasCount: 10, uniqueKeys: false, logLevel: "error" }),
      )) ?? {};
    if (!isObject(head)) return { ok: false, reason: "The head between the dashes is no mapping." };
    return { ok: true, head, body: found.body };
  } catch (error) {
    if (error instanceof TooSlow) return { ok: false, reason: "The head takes too long to be read." };
    return { ok: false, reason: `The head is not valid YAML: ${describeError(error)}` };
  }
}

const longestHead = 8 * 1024;

function findHead(text: string): { readonly yaml: string; readonly body: string } | null {
  const opening = /^---[ \t]*\r?\n/.exec(text);
  if (opening === null) return null;
  const rest = text.slice(opening[0].length);
  const closing = /(?<=^|\n)---[^\S\n]*(?:\n|$)/.exec(rest);
  if (closing === null) return null;
  return { yaml: rest.slice(0, closing.index), body: rest.slice(closing.index + closing[0].length) };
}

/** A skill that asks for inputs can always be called as `/name`. */
function triggerOf(
  name: string,
  words: readonly string[],
  isTask: boolean,
): Skill["trigger"] & (object | null) {
  if (isTask) return { type: "task", triggers: [...new Set([...words, `/${name}`])] };
  return words.length === 0 ? null : { type: "keyword", keywords: [...words] };
}

export function textsOf(value: unknown): string[] {
  const values = Array.isArray(value) ? value : [value];
  return values.flatMap((item) => textOf(item) ?? []);
}

function allowedToolsOf(value: unknown): string[] | null {
  const given = typeof value === "string" ? value.split(/[\s,]+/) : value;
  const names = textsOf(given);
  return names.length === 0 ? null : names;
}

function inputsOf(value: unknown): NonNullable<Skill["inputs"]> {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    const { name, description } = objectOr(item);
    return typeof name === "string" ? [{ name, description: textOf(description) ?? "" }] : [];
  });
}

function metadataOf(value: unknown): Record<string, string> | null {
  if (!isObject(value)) return null;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, String(item)]));
}
