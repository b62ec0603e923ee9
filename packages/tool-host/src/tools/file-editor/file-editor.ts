import { realpath, unlink } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { Action, FileEditorAction, FileEditorObservation } from "@convoke/protocol";
import { ToolInputError } from "../../tool.ts";
import type { ToolInstance } from "../../tool.ts";
import { imagePart, textPart } from "../observation-content.ts";
import { createFile, replaceFile } from "./atomic-write.ts";
import { checkNew } from "./check-new.ts";
import { checkPath, readEditable } from "./check-path.ts";
import type { EditHistory } from "./edit-history.ts";
import { findTwin } from "./find-twin.ts";
import { fileProblem } from "./file-problem.ts";
import { insertLines, replacePassage, splitLines } from "./edit-text.ts";
import type { Edit } from "./edit-text.ts";
import { numberLines } from "./number-lines.ts";
import { decodeText, encodeText } from "./text-file.ts";
import { viewDirectory } from "./view-directory.ts";
import { imageTypeOf, viewEdit, viewText } from "./view-file.ts";

export type FileEditorDeps = { readonly workspaceDir: string; readonly history: EditHistory };

/** Executes file editor actions. Mistakes of the model and errors of the file system become an observation with `is_error`. */
export class FileEditor implements ToolInstance {
  readonly #deps: FileEditorDeps;

  constructor(deps: FileEditorDeps) {
    this.#deps = deps;
  }

  async execute(action: Action): Promise<FileEditorObservation> {
    const given = action as FileEditorAction;
    let edit = given;
    try {
      edit = { ...given, path: await existing(given.path) };
      return await this.#run(edit);
    } catch (error) {
      const text = fileProblem(error, edit.path);
      if (text === undefined) throw error;
      return { ...observe(edit, [textPart(text)]), is_error: true, path: null };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #run(action: FileEditorAction): Promise<FileEditorObservation> {
    const kind = await checkPath(action, this.#deps.workspaceDir);
    switch (action.command) {
      case "create":
        return this.#create(action);
      case "str_replace": {
        const wanted = required(action, "old_str");
        const replacement = required(action, "new_str");
        return this.#edit(action, (text) => replacePassage(text, wanted, replacement));
      }
      case "insert": {
        const line = required(action, "insert_line");
        const added = required(action, "new_str");
        return this.#edit(action, (text) => insertLines(text, line, added));
      }
      case "undo_edit":
        return this.#undo(action);
      default:
        return view(action, kind === "directory");
    }
  }

  async #create(action: FileEditorAction): Promise<FileEditorObservation> {
    const text = required(action, "file_text");
    await checkNew(action.path);
    const bytes = Buffer.from(text, "utf8");
    const directory = await realpath(dirname(action.path));
    const edit = await this.#deps.history.push(join(directory, basename(action.path)), null, bytes);
    try {
      await createFile(action.path, bytes);
    } catch (error) {
      await edit.drop();
      throw error;
    }
    return {
      ...observe(action, [textPart(`Created ${action.path}.`)]),
      prev_exist: false,
      new_content: text,
    };
  }

  async #edit(action: FileEditorAction, change: (text: string) => Edit): Promise<FileEditorObservation> {
    const bytes = await readEditable(action.path);
    const file = await decodeText(bytes);
    const edit = change(file.text);
    const changed = await encodeText(edit.text, file);
    const past = await this.#deps.history.push(await realpath(action.path), bytes, changed);
    try {
      await replaceFile(action.path, changed);
    } catch (error) {
      await past.drop();
      throw error;
    }
    const shown = viewEdit(edit.text, edit.first, edit.last);
    const text = `Edited ${action.path}. It now reads around the change:\n${shown}Check that this is what you meant; edit again if not.`;
    return { ...observe(action, [textPart(text)]), old_content: file.text, new_content: edit.text };
  }

  async #undo(action: FileEditorAction): Promise<FileEditorObservation> {
    const current = await readEditable(action.path);
    const target = await realpath(action.path);
    const past = await this.#deps.history.latest(target);
    if (past === undefined) {
      throw new ToolInputError(`Nothing to undo: no edit of ${action.path} is remembered.`);
    }
    const old_content = (await decodeText(current)).text;
    const previous = await past.previous();
    if (previous === null) {
      if (!(await past.isAsCreated(current))) {
        throw new ToolInputError(
          `The next edit to undo is the creation of ${action.path}, but the file was changed by other means since. Delete it with the terminal if that is what you want.`,
        );
      }
      await unlink(target);
      await past.drop();
      const text = `Took back the creation of ${action.path}: the file is removed.`;
      return { ...observe(action, [textPart(text)]), old_content };
    }
    await replaceFile(target, previous);
    await past.drop();
    const new_content = (await decodeText(previous)).text;
    const shown = numberLines(splitLines(new_content), 1);
    const text = `Took back the last edit of ${action.path}. It reads again:\n${shown}`;
    return { ...observe(action, [textPart(text)]), old_content, new_content };
  }
}

/** A path that is refused below stays unchanged. */
async function existing(path: string): Promise<string> {
  return isAbsolute(path) && !path.includes("\0") ? findTwin(path) : path;
}

async function view(action: FileEditorAction, isDirectory: boolean): Promise<FileEditorObservation> {
  const range = action.view_range ?? undefined;
  if (isDirectory) {
    if (range !== undefined) {
      throw new ToolInputError(
        `Invalid parameter view_range: [${range.join(", ")}]. ${action.path} is a directory and has no lines.`,
      );
    }
    return observe(action, [textPart(await viewDirectory(action.path))]);
  }
  const bytes = await readEditable(action.path);
  const imageType = imageTypeOf(action.path);
  if (imageType !== undefined) {
    const url = `data:${imageType};base64,${bytes.toString("base64")}`;
    return observe(action, [textPart(`The picture ${action.path}:`), imagePart(url)]);
  }
  const { text } = await decodeText(bytes);
  return observe(action, [textPart(viewText(action.path, text, range))]);
}

function observe(
  action: FileEditorAction,
  content: NonNullable<FileEditorObservation["content"]>,
): FileEditorObservation {
  return {
    kind: "FileEditorObservation",
    content,
    is_error: false,
    command: action.command,
    path: action.path,
    prev_exist: true,
    old_content: null,
    new_content: null,
  };
}

function required<Name extends "file_text" | "old_str" | "new_str" | "insert_line">(
  action: FileEditorAction,
  name: Name,
): NonNullable<FileEditorAction[Name]> {
  const value = action[name];
  if (value === null || value === undefined) {
    throw new ToolInputError(`Missing parameter ${name}: the command ${action.command} needs it.`);
  }
  return value;
}
