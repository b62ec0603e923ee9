import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { openTool } from "./open-tool.ts";
import { fileEditorTool } from "../tools/file-editor/file-editor-tool.ts";

type Command = "view" | "create" | "str_replace" | "insert" | "undo_edit";
type Arguments = {
  file_text?: string;
  old_str?: string;
  new_str?: string;
  insert_line?: number;
  view_range?: number[];
};

/** A file editor in a temporary workspace that contains `files`; closed when the test ends. */
export async function openEditorBench(files: Readonly<Record<string, string>> = {}) {
  const bench = await openTool(fileEditorTool, files);
  onTestFinished(async () => bench[Symbol.asyncDispose]());
  const run = async (action: Arguments & { command: Command; path: string }) => {
    const observation = await bench.execute({ kind: "FileEditorAction", ...action });
    if (observation.kind !== "FileEditorObservation") throw new Error(`Unexpected ${observation.kind}`);
    return observation;
  };
  const path = (name: string): string => join(bench.context.workspaceDir, name);
  const edit = async (command: Command, name: string, rest: Arguments = {}) =>
    run({ command, path: path(name), ...rest });
  return {
    context: bench.context,
    reopen: bench.reopen,
    list: bench.list,
    run,
    path,
    edit,
    read: async (name: string) => readFile(path(name), "utf8"),
    text: async (...input: Parameters<typeof edit>) => {
      const observation = await edit(...input);
      expect(observation).toMatchObject({ is_error: false });
      return textOf(observation);
    },
    error: async (...input: Parameters<typeof edit>) => {
      const observation = await edit(...input);
      expect(observation).toMatchObject({ is_error: true, path: null, old_content: null, new_content: null });
      return textOf(observation);
    },
  };
}

/** The text parts of an observation. */
export function textOf(observation: { content?: readonly object[] }): string {
  return (observation.content ?? []).map((part) => ("text" in part ? String(part.text) : "")).join("");
}
