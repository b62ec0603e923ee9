import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Action, EditAction, EditObservation } from "@convoke/protocol";
import { ToolInputError, type Tool, type ToolContext } from "../../tool.ts";
import { annotate, defineTool } from "../define-tool.ts";
import { createFile, replaceFile } from "../file-editor/atomic-write.ts";
import { checkNew } from "../file-editor/check-new.ts";
import { kindAt, readEditable } from "../file-editor/check-path.ts";
import { replacePassages } from "../file-editor/edit-text.ts";
import { fileProblem } from "../file-editor/file-problem.ts";
import { decodeText, encodeText } from "../file-editor/text-file.ts";
import { viewEdit } from "../file-editor/view-file.ts";
import { textPart } from "../observation-content.ts";
import { existingPath } from "./workspace-path.ts";

/** Replaces a passage of a file a given number of times. */
export const editTool: Tool = {
  name: "edit",
  actionKind: "EditAction",
  isReadOnly: false,
  traits: ({ workspaceDir }) => ({ file: { field: "file_path", base: workspaceDir } }),
  define: (context) => ({
    ...defineTool(
      "Edit",
      "edit",
      description,
      annotate("edit", { readOnly: false, destructive: true, idempotent: false, openWorld: false }),
    ),
    meta: { workspace_root: context.workspaceDir },
  }),
  open: async (context) => ({
    execute: async (action: Action) => editAction(action as EditAction, context),
    [Symbol.asyncDispose]: async () => {},
  }),
};

async function editAction(action: EditAction, context: ToolContext): Promise<EditObservation> {
  try {
    const path = await existingPath(context.workspaceDir, "file_path", action.file_path);
    return action.old_string === "" ? await create(path, action) : await change(path, action);
  } catch (error) {
    const text = fileProblem(error, action.file_path);
    if (text === undefined) throw error;
    return { ...observe(null, text), is_error: true };
  }
}

async function create(path: string, { new_string }: EditAction): Promise<EditObservation> {
  if ((await kindAt(path, "file_path")) !== "nothing") {
    throw new ToolInputError(
      `Invalid parameter old_string: it is empty, which creates a file, but ${path} exists already. Give the text to replace.`,
    );
  }
  await checkNew(path, "file_path");
  await mkdir(dirname(path), { recursive: true });
  await createFile(path, Buffer.from(new_string, "utf8"));
  return {
    ...observe(path, `Created ${path}.`),
    is_new_file: true,
    replacements_made: 1,
    new_content: new_string,
  };
}

async function change(path: string, action: EditAction): Promise<EditObservation> {
  const kind = await kindAt(path, "file_path");
  if (kind !== "file") {
    const reason = kind === "directory" ? "is a directory" : "does not exist; an empty old_string creates it";
    throw new ToolInputError(`Invalid parameter file_path: ${path} ${reason}.`);
  }
  const file = await decodeText(await readEditable(path));
  const wanted = action.expected_replacements ?? 1;
  const edit = replacePassages(file.text, action.old_string, action.new_string, wanted);
  await replaceFile(path, await encodeText(edit.text, file));
  const times = wanted === 1 ? "" : ` in ${wanted} places`;
  const shown = viewEdit(edit.text, edit.first, edit.last);
  return {
    ...observe(
      path,
      `Edited ${path}${times}. It now reads around the ${wanted === 1 ? "" : "first "}change:\n${shown}`,
    ),
    replacements_made: wanted,
    old_content: file.text,
    new_content: edit.text,
  };
}

function observe(path: string | null, text: string): EditObservation {
  return {
    kind: "EditObservation",
    content: [textPart(text)],
    is_error: false,
    file_path: path,
    is_new_file: false,
    replacements_made: 0,
    old_content: null,
    new_content: null,
  };
}

const description = `Replace text in a file. The path is absolute or relative to your working directory.

- old_string must stand in the file exactly as given, white space included. Read the file first, and take in enough lines around the change.
- It must occur exactly expected_replacements times (1 unless given), and all of them are replaced; at any other count nothing changes and the answer says how many there are.
- An empty old_string creates a file that does not exist yet, with new_string as its content.

Line ends, encoding and permissions of the file stay as they are.`;
