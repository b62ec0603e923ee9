import { readdir } from "node:fs/promises";
import type { Action, ReadFileAction, ReadFileObservation } from "@convoke/protocol";
import { ToolInputError, type Tool, type ToolContext } from "../../tool.ts";
import { annotate, defineTool } from "../define-tool.ts";
import { kindAt, readEditable } from "../file-editor/check-path.ts";
import { splitLines } from "../file-editor/edit-text.ts";
import { showControls } from "../file-editor/show-controls.ts";
import { fileProblem } from "../file-editor/file-problem.ts";
import { decodeText } from "../file-editor/text-file.ts";
import { imageTypeOf } from "../file-editor/view-file.ts";
import { imagePart, textPart } from "../observation-content.ts";
import { existingPath } from "./workspace-path.ts";

/** Shows a file, or a page of its lines. */
export const readFileTool: Tool = {
  name: "read_file",
  actionKind: "ReadFileAction",
  isReadOnly: true,
  traits: ({ workspaceDir }) => ({ file: { field: "file_path", base: workspaceDir } }),
  define: (context) => ({
    ...defineTool(
      "ReadFile",
      "read_file",
      describe(context),
      annotate("read_file", { readOnly: true, destructive: false, idempotent: true, openWorld: false }),
    ),
    meta: { workspace_root: context.workspaceDir },
  }),
  open: async (context) => ({
    execute: async (action: Action) => readAction(action as ReadFileAction, context),
    [Symbol.asyncDispose]: async () => {},
  }),
};

async function readAction(action: ReadFileAction, context: ToolContext): Promise<ReadFileObservation> {
  try {
    return await readPage(action, await existingPath(context.workspaceDir, "file_path", action.file_path));
  } catch (error) {
    const text = fileProblem(error, action.file_path);
    if (text === undefined) throw error;
    return { ...observe(action.file_path, text), is_error: true };
  }
}

async function readPage(action: ReadFileAction, path: string): Promise<ReadFileObservation> {
  await checkIsFile(path);
  const bytes = await readEditable(path);
  const imageType = imageTypeOf(path);
  if (imageType !== undefined) {
    const url = `data:${imageType};base64,${bytes.toString("base64")}`;
    return { ...observe(path, ""), content: [textPart(`The picture ${path}:`), imagePart(url)] };
  }
  const lines = splitLines((await decodeText(bytes)).text);
  const offset = action.offset ?? 0;
  if (lines.length === 0 && offset === 0) return { ...observe(path, `${path} is empty.`), total_lines: 0 };
  if (offset >= lines.length) {
    throw new ToolInputError(
      `Invalid parameter offset: ${offset}. ${path} has ${lines.length} lines, so it must be from 0 to ${Math.max(0, lines.length - 1)}.`,
    );
  }
  const { shown, cut } = takeLines(lines.slice(offset, offset + (action.limit ?? usualLines)));
  const last = offset + shown.length;
  const isTruncated = last < lines.length || cut > 0;
  const isPart = isTruncated || offset > 0;
  const more = last < lines.length ? ` To read on, use offset ${last}.` : "";
  const left = cut > 0 ? ` Line ${last} is ${cut} characters longer than shown.` : "";
  const span = isPart ? `lines ${offset + 1} to ${last} of ${lines.length}.${more}${left}` : countOf(lines);
  const numbered = shown
    .map((line, index) => `${String(offset + index + 1).padStart(6)}  ${showControls(line)}`)
    .join("\n");
  return {
    ...observe(path, `${path}, ${span}\n\n${numbered}`),
    file_content: shown.join("\n"),
    is_truncated: isTruncated,
    lines_shown: isPart ? [offset + 1, last] : null,
    total_lines: lines.length,
  };
}

async function checkIsFile(path: string): Promise<void> {
  const kind = await kindAt(path, "file_path");
  if (kind === "file") return;
  if (kind === "nothing") throw new ToolInputError(`Invalid parameter file_path: ${path} does not exist.`);
  const names = (await readdir(path)).slice(0, 20).join(", ");
  throw new ToolInputError(
    `Invalid parameter file_path: ${path} is a directory (${names}). Use list_directory to see what is in it.`,
  );
}

/** As many whole lines as fit; at least one, which then may be cut. */
function takeLines(lines: readonly string[]): { readonly shown: readonly string[]; readonly cut: number } {
  let used = 0;
  const tooMany = lines.findIndex((line) => (used += line.length + 9) > maxCharacters);
  if (tooMany === -1) return { shown: lines, cut: 0 };
  if (tooMany > 0) return { shown: lines.slice(0, tooMany), cut: 0 };
  const first = lines[0]!.slice(0, maxCharacters).toWellFormed();
  return { shown: [first], cut: lines[0]!.length - first.length };
}

const usualLines = 1_000;
const maxCharacters = 40_000;

function countOf(lines: readonly string[]): string {
  return lines.length === 1 ? "1 line:" : `${lines.length} lines:`;
}

function observe(path: string, text: string): ReadFileObservation {
  return {
    kind: "ReadFileObservation",
    content: [textPart(text)],
    is_error: false,
    file_path: path,
    file_content: "",
    is_truncated: false,
    lines_shown: null,
    total_lines: null,
  };
}

function describe({ canSee }: ToolContext): string {
  const images = canSee ? " A picture is shown as a picture." : "";
  return `Read a text file. The path is absolute or relative to your working directory. The answer has the lines with their numbers; the numbers are not part of the file.${images}

Without limit at most ${usualLines} lines are shown. When a file has more, the answer says at which offset to go on. offset counts lines to skip: offset 0 begins with line 1.`;
}
