import { ToolInputError } from "../../tool.ts";

/** One line of a change: unchanged, removed, or added. */
export type HunkLine = { readonly type: "keep" | "remove" | "add"; readonly text: string };

export type Hunk = {
  /** Anchors: lines somewhere above the change, such as the first line of a function. */
  readonly anchors: readonly string[];
  readonly lines: readonly HunkLine[];
  readonly isAtEnd: boolean;
};

export type Section =
  | { readonly type: "add"; readonly path: string; readonly lines: readonly string[] }
  | { readonly type: "delete"; readonly path: string }
  | {
      readonly type: "update";
      readonly path: string;
      readonly movePath: string | null;
      readonly hunks: readonly Hunk[];
    };

const header = /^\*\*\* (Add|Delete|Update) File: (.*)$/;
const move = /^\*\*\* Move to: (.*)$/;

/** The sections of a patch, in their order. */
export function parsePatch(text: string): Section[] {
  const lines = text.trim().split(/\r?\n/);
  if (lines[0] !== "*** Begin Patch")
    throw new ToolInputError("The first line of a patch is *** Begin Patch, with nothing before it.");
  if (lines.length < 2 || lines.at(-1)?.trimEnd() !== "*** End Patch")
    throw new ToolInputError("The last line of a patch is *** End Patch.");
  const sections: Section[] = [];
  const body = lines.slice(1, -1);
  for (let at = 0; at < body.length;) {
    const [, verb, name = ""] = header.exec(body[at]!) ?? [];
    if (verb === undefined) {
      throw new ToolInputError(
        `Line ${at + 2} of the patch, ${quote(body[at]!)}, begins no section. Sections begin with *** Add File:, *** Update File: or *** Delete File: and a path.`,
      );
    }
    const start = at + 1;
    at = start;
    while (at < body.length && !header.test(body[at]!)) at += 1;
    sections.push(readSection(verb, readPath(name), body.slice(start, at), start + 2));
  }
  if (sections.length === 0) throw new ToolInputError("The patch has no section, so nothing would change.");
  return sections;
}

/** The paths that a patch names, also one that is not valid. */
export function pathsIn(patch: string): string[] {
  return patch.split(/\r?\n/).flatMap((line) => {
    const path = header.exec(line)?.[2] ?? move.exec(line)?.[1];
    return path === undefined || path.trim() === "" ? [] : [path.trim()];
  });
}

/** `firstLine`: the number of the first line of `body` in the patch. */
function readSection(verb: string, path: string, body: readonly string[], firstLine: number): Section {
  if (verb === "Add") return { type: "add", path, lines: readAdded(path, body, firstLine) };
  if (verb === "Delete") {
    const rest = body.find((line) => line.trim() !== "");
    if (rest === undefined) return { type: "delete", path };
    throw new ToolInputError(
      `The section that deletes ${path} has nothing but its first line; it has ${quote(rest)}.`,
    );
  }
  const moved = move.exec(body[0] ?? "")?.[1];
  const movePath = moved === undefined ? null : readPath(moved);
  const skipped = movePath === null ? 0 : 1;
  const hunks = readHunks(path, body.slice(skipped), firstLine + skipped);
  if (hunks.length === 0 && movePath === null)
    throw new ToolInputError(
      `The section that updates ${path} has no change. Give lines that begin with - or +.`,
    );
  return { type: "update", path, movePath, hunks };
}

function readAdded(path: string, body: readonly string[], firstLine: number): string[] {
  const wrong = body.findIndex((line) => !line.startsWith("+"));
  if (wrong !== -1) {
    throw new ToolInputError(
      `Line ${firstLine + wrong} of the patch, ${quote(body[wrong]!)}: every line of the new file ${path} begins with +, empty ones too.`,
    );
  }
  return body.map((line) => line.slice(1));
}

function readHunks(path: string, body: readonly string[], firstLine: number): Hunk[] {
  const hunks: Hunk[] = [];
  let anchors: string[] = [];
  let lines: HunkLine[] = [];
  const close = (isAtEnd: boolean): void => {
    if (lines.length > 0) hunks.push({ anchors, lines, isAtEnd });
    [anchors, lines] = [[], []];
  };
  for (const [index, line] of body.entries()) {
    if (line === "*** End of File") close(true);
    else if (line === "@@" || line.startsWith("@@ ")) {
      // Several anchors in a row locate one change.
      if (lines.length > 0) close(false);
      const anchor = line.slice(3);
      if (anchor.trim() !== "") anchors.push(anchor);
    } else {
      const type = line === "" ? "keep" : types[line[0]!];
      if (type === undefined) {
        throw new ToolInputError(
          `Line ${firstLine + index} of the patch, ${quote(line)}: lines of a change to ${path} begin with a space, - or +.`,
        );
      }
      lines.push({ type, text: line.slice(1) });
    }
  }
  close(false);
  return hunks;
}

const types: Readonly<Record<string, HunkLine["type"]>> = { " ": "keep", "-": "remove", "+": "add" };

function readPath(name: string): string {
  const path = name.trim();
  if (path === "") throw new ToolInputError("A section of the patch names no file.");
  if (path.includes("\0")) throw new ToolInputError("A path of the patch contains a NUL character.");
  return path;
}

function quote(line: string): string {
  return JSON.stringify(line.length > 200 ? `${line.slice(0, 200)}...` : line);
}
