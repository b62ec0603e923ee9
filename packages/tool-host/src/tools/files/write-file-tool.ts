import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Action, WriteFileAction, WriteFileObservation } from "@convoke/protocol";
import { ToolInputError, type Tool, type ToolContext } from "../../tool.ts";
import { annotate, defineTool } from "../define-tool.ts";
import { createFile, replaceFile } from "../file-editor/atomic-write.ts";
import { checkNew } from "../file-editor/check-new.ts";
import { kindAt, readEditable } from "../file-editor/check-path.ts";
import { withLineEndsOf } from "../file-editor/edit-text.ts";
import { fileProblem } from "../file-editor/file-problem.ts";
import { decodeText, encodeText, type TextFile } from "../file-editor/text-file.ts";
import { textPart } from "../observation-content.ts";
import { existingPath } from "./workspace-path.ts";

/** Writes a whole file. */
export const writeFileTool: Tool = {
  name: "write_file",
  actionKind: "WriteFileAction",
  isReadOnly: false,
  traits: ({ workspaceDir }) => ({ file: { field: "file_path", base: workspaceDir } }),
  define: (context) => ({
    ...defineTool(
      "WriteFile",
      "write_file",
      description,
      annotate("write_file", { readOnly: false, destructive: true, idempotent: false, openWorld: false }),
    ),
    meta: { workspace_root: context.workspaceDir },
  }),
  open: async (context) => ({
    execute: async (action: Action) => write(action as WriteFileAction, context),
    [Symbol.asyncDispose]: async () => {},
  }),
};

async function write(action: WriteFileAction, context: ToolContext): Promise<WriteFileObservation> {
  try {
    const path = await existingPath(context.workspaceDir, "file_path", action.file_path);
    const kind = await kindAt(path, "file_path");
    if (kind === "directory")
      throw new ToolInputError(`Invalid parameter file_path: ${path} is a directory and cannot be written.`);
    return kind === "file" ? await replace(path, action.content) : await create(path, action.content);
  } catch (error) {
    const text = fileProblem(error, action.file_path);
    if (text === undefined) throw error;
    return { ...observe(null, text), is_error: true };
  }
}

async function create(path: string, content: string): Promise<WriteFileObservation> {
  await checkNew(path, "file_path");
  await mkdir(dirname(path), { recursive: true });
  await createFile(path, Buffer.from(content, "utf8"));
  return { ...observe(path, `Created ${path}.`), is_new_file: true, new_content: content };
}

async function replace(path: string, given: string): Promise<WriteFileObservation> {
  const before = await readBefore(path);
  const content = before === null ? given : withLineEndsOf(before.text, given);
  // A file whose encoding is only guessed becomes UTF-8, because its whole content is new.
  const keepsEncoding = before?.isEncodingKnown === true;
  await replaceFile(path, keepsEncoding ? await encodeText(content, before) : Buffer.from(content, "utf8"));
  return {
    ...observe(
      path,
      `Replaced the whole content of ${path}.${content === given ? "" : lineEndsNote(content)}`,
    ),
    old_content: before?.text ?? null,
    new_content: content,
  };
}

function lineEndsNote(content: string): string {
  const kind = content.includes("\r\n") ? "CR LF" : "LF";
  return ` Its line ends stay ${kind}, as they were; convert them in the terminal if they must change.`;
}

/** Null for a file that is not text; it is replaced all the same. */
async function readBefore(path: string): Promise<TextFile | null> {
  try {
    return await decodeText(await readEditable(path));
  } catch (error) {
    if (error instanceof ToolInputError) return null;
    throw error;
  }
}

function observe(path: string | null, text: string): WriteFileObservation {
  return {
    kind: "WriteFileObservation",
    content: [textPart(text)],
    is_error: false,
    file_path: path,
    is_new_file: false,
    old_content: null,
    new_content: null,
  };
}

const description = `Write a whole file: create it, or replace all that is in it. The path is absolute or relative to your working directory; folders that are missing are made.

Use it for new files and for files that change nearly everywhere. To change a part of a file use edit, which leaves the rest as it is. Nothing is kept of what was there before but its encoding, line ends and permissions.`;
