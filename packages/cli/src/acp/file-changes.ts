import { posix } from "node:path";
import type { Diff, ToolCallLocation } from "@agentclientprotocol/sdk";
import { asFields, textAt, type Fields } from "./fields.ts";

/** A change of one file as ACP shows it: `oldText` is null for a new file. */
export type FileChange = Diff & { readonly line: number };

/** What an action would change, as far as it says so itself; paths are absolute below `cwd`. */
export function plannedChanges(action: Fields, cwd: string): readonly FileChange[] {
  const change = (path: string, before: string | null, after: string): FileChange[] =>
    path === "" ? [] : [toChange(cwd, path, before, after)];
  switch (action["kind"]) {
    case "FileEditorAction":
    case "PlanningFileEditorAction": {
      const path = textAt(action, "path");
      if (action["command"] === "create") return change(path, null, textAt(action, "file_text"));
      if (action["command"] === "str_replace")
        return change(path, textAt(action, "old_str"), textAt(action, "new_str"));
      return action["command"] === "insert" ? change(path, "", textAt(action, "new_str")) : [];
    }
    case "EditAction":
      return change(textAt(action, "file_path"), textAt(action, "old_string"), textAt(action, "new_string"));
    case "WriteFileAction":
      return change(textAt(action, "file_path"), null, textAt(action, "content"));
    default:
      return [];
  }
}

/** What a tool has changed: the whole texts before and after. */
export function doneChanges(observation: Fields, cwd: string): readonly FileChange[] {
  const before = observation["old_content"];
  const after = observation["new_content"];
  switch (observation["kind"]) {
    case "FileEditorObservation":
    case "PlanningFileEditorObservation":
    case "EditObservation":
    case "WriteFileObservation": {
      const path = textAt(observation, "path") || textAt(observation, "file_path");
      if (path === "" || observation["command"] === "view" || typeof after !== "string") return [];
      const isNew = observation["prev_exist"] === false || observation["is_new_file"] === true;
      return [toChange(cwd, path, isNew || typeof before !== "string" ? null : before, after)];
    }
    case "ApplyPatchObservation":
      return Object.entries(asFields(asFields(observation["commit"])["changes"])).map(([path, given]) => {
        const fields = asFields(given);
        const old = fields["type"] === "add" ? null : textAt(fields, "old_content");
        return toChange(cwd, textAt(fields, "move_path") || path, old, textAt(fields, "new_content"));
      });
    default:
      return [];
  }
}

/** The files that an action names. */
export function placesOf(action: Fields, cwd: string): ToolCallLocation[] {
  const path = textAt(action, "path") || textAt(action, "file_path") || textAt(action, "dir_path");
  return path === "" ? [] : [{ path: posix.resolve(cwd, path) }];
}

function toChange(cwd: string, path: string, oldText: string | null, newText: string): FileChange {
  return { path: posix.resolve(cwd, path), oldText, newText, line: firstChangedLine(oldText ?? "", newText) };
}

/** From 1. */
function firstChangedLine(before: string, after: string): number {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const index = now.findIndex((line, at) => line !== old[at]);
  return index === -1 ? Math.max(now.length, 1) : index + 1;
}
