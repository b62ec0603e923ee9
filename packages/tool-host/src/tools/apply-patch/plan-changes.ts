import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { ToolInputError } from "../../tool.ts";
import { codeOf } from "../file-editor/atomic-write.ts";
import { kindAt, readEditable } from "../file-editor/check-path.ts";
import { decodeText, encodeText } from "../file-editor/text-file.ts";
import { applyHunks } from "./apply-hunks.ts";
import type { Section } from "./parse-patch.ts";

/** One change to one file. `before` and `after` are texts; null for no file, or a file that is not text. */
export type Change = {
  /** The path as written in the patch. */
  readonly path: string;
  readonly movePath: string | null;
  readonly from: string;
  readonly to: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly oldBytes: Buffer | null;
  readonly newBytes: Buffer | null;
  readonly type: Section["type"];
};

export type Plan = { readonly changes: readonly Change[]; readonly fuzz: number };

/** Reads the affected files and computes every change; writes nothing. */
export async function planChanges(workspaceDir: string, sections: readonly Section[]): Promise<Plan> {
  const root = await realpath(workspaceDir);
  const taken = new Set<string>();
  const changes: Change[] = [];
  let fuzz = 0;
  for (const section of sections) {
    const from = await placeInside(root, workspaceDir, section.path);
    claim(taken, from, section.path);
    if (section.type === "add") changes.push(await planAdd(section, from));
    else if (section.type === "delete") changes.push(await planDelete(section, from));
    else {
      const to = section.movePath === null ? from : await moveTarget(root, workspaceDir, section.movePath);
      if (to !== from) claim(taken, to, section.movePath!);
      const planned = await planUpdate(section, from, to);
      changes.push(planned.change);
      fuzz += planned.fuzz;
    }
  }
  return { changes, fuzz };
}

type Of<Type extends Section["type"]> = Extract<Section, { type: Type }>;

async function planAdd({ path, lines }: Of<"add">, from: string): Promise<Change> {
  if ((await thingAt(from)) !== "nothing")
    throw new ToolInputError(`${path} exists already. Change it with *** Update File: instead of adding it.`);
  const after = lines.length === 0 ? "" : `${lines.join("\n")}\n`;
  const newBytes = Buffer.from(after, "utf8");
  return { type: "add", path, movePath: null, from, to: from, before: null, after, oldBytes: null, newBytes };
}

async function planDelete({ path }: Of<"delete">, from: string): Promise<Change> {
  await requireFile(path, from, "delete");
  const before = await readText(from);
  return {
    type: "delete",
    path,
    movePath: null,
    from,
    to: from,
    before,
    after: null,
    oldBytes: null,
    newBytes: null,
  };
}

async function planUpdate(
  { path, movePath, hunks }: Of<"update">,
  from: string,
  to: string,
): Promise<{ readonly change: Change; readonly fuzz: number }> {
  await requireFile(path, from, "update");
  if (to !== from && (await thingAt(to)) !== "nothing")
    throw new ToolInputError(`${path} cannot be moved to ${movePath}: there is something already.`);
  const base = { type: "update", path, movePath, from, to } as const;
  if (hunks.length === 0) {
    const before = await readText(from);
    return { change: { ...base, before, after: before, oldBytes: null, newBytes: null }, fuzz: 0 };
  }
  const oldBytes = await readEditable(from);
  const file = await decodeText(oldBytes);
  const { text, fuzz } = applyHunks(path, file.text, hunks);
  if (text === file.text && to === from)
    throw new ToolInputError(`${path} reads already as the patch wants it, so nothing would change.`);
  const newBytes = await encodeText(text, file);
  return { change: { ...base, before: file.text, after: text, oldBytes, newBytes }, fuzz };
}

/** Null for a file that is too large or not text; it can still be deleted and moved. */
async function readText(path: string): Promise<string | null> {
  try {
    return (await decodeText(await readEditable(path))).text;
  } catch (error) {
    if (error instanceof ToolInputError) return null;
    throw error;
  }
}

async function requireFile(path: string, from: string, verb: "delete" | "update"): Promise<void> {
  const kind = await kindAt(from, "patch");
  if (kind === "nothing")
    throw new ToolInputError(
      `${path} does not exist, so the patch cannot ${verb} it. List its directory to see what is there.`,
    );
  if (kind === "directory")
    throw new ToolInputError(`${path} is a directory; a patch can only ${verb} files.`);
}

async function moveTarget(root: string, workspaceDir: string, path: string): Promise<string> {
  if (isAbsolute(path) || path.split("/").includes(".."))
    throw new ToolInputError(
      `${path} is no place to move a file to: give a path below the working directory, without "..".`,
    );
  return await placeInside(root, workspaceDir, path);
}

/** Resolves a path, following links of its directories; throws when it is outside the workspace. */
async function placeInside(root: string, workspaceDir: string, path: string): Promise<string> {
  const whole = resolve(workspaceDir, path);
  const place = join(await realDirectory(dirname(whole)), basename(whole));
  // For a file that is a link, its target is changed.
  const target = await realpath(place).catch((error: unknown) => {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return place;
    throw error;
  });
  if (isBelow(root, place) && isBelow(root, target)) return place;
  throw new ToolInputError(
    `${path} is outside of the working directory ${workspaceDir}; a patch changes only files below it.`,
  );
}

/** The real path of a directory that may not exist yet. */
async function realDirectory(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || dirname(path) === path) throw error;
    return join(await realDirectory(dirname(path)), basename(path));
  }
}

function isBelow(root: string, path: string): boolean {
  const inside = relative(root, path);
  return inside !== "" && inside !== ".." && !inside.startsWith("../") && !isAbsolute(inside);
}

function claim(taken: Set<string>, place: string, path: string): void {
  if (taken.has(place))
    throw new ToolInputError(
      `The patch has more than one section for ${path}. Put its changes into one section.`,
    );
  taken.add(place);
}

/** A broken link counts as existing. */
async function thingAt(path: string): Promise<"nothing" | "something"> {
  try {
    await lstat(path);
    return "something";
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return "nothing";
    throw error;
  }
}
