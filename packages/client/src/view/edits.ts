import { acpCallKind } from "./acp-call.ts";
import { asRecord, listAt, recordAt, textAt, type UnknownRecord } from "./unknown-record.ts";
import type { ActionRow } from "./row.ts";

/** A change of one file: both texts if the log has them, else the server's patch. */
export type Edit = {
  readonly path: string;
  readonly isNew: boolean;
  readonly isDeleted: boolean;
} & ({ readonly before: string; readonly after: string } | { readonly patch: string });

/** The edits of an action, done or proposed; empty for actions that change no file. */
export function editsOf({ action, outcome }: Pick<ActionRow, "action" | "outcome">): readonly Edit[] {
  if (action === null) return [];
  if (action["kind"] === acpCallKind) return acpEdits(action, outcome);
  if (outcome === null) return plannedEdits(action);
  if (outcome.type !== "result" || outcome.isError) return [];
  return doneEdits(action, outcome.observation);
}

/** Texts that were cut would make another change of it. */
function acpEdits(action: UnknownRecord, outcome: ActionRow["outcome"]): Edit[] {
  if (outcome?.type === "result" && (outcome.isError || outcome.isCut)) return [];
  return listAt(action, "content").flatMap((part) => {
    const fields = asRecord(part);
    if (fields?.["type"] !== "diff") return [];
    return [
      {
        path: textAt(fields, "path"),
        isNew: typeof fields["oldText"] !== "string",
        isDeleted: false,
        before: textAt(fields, "oldText"),
        after: textAt(fields, "newText"),
      },
    ];
  });
}

function doneEdits(action: UnknownRecord, observation: UnknownRecord): Edit[] {
  switch (observation["kind"]) {
    case "FileEditorObservation":
    case "PlanningFileEditorObservation":
      if (observation["command"] === "view") return [];
      return [
        fileEdit(
          textAt(observation, "path") || textAt(action, "path"),
          observation,
          observation["prev_exist"] === false,
        ),
      ];
    case "EditObservation":
    case "WriteFileObservation":
      return [
        fileEdit(
          textAt(observation, "file_path") || textAt(action, "file_path"),
          observation,
          observation["is_new_file"] === true,
        ),
      ];
    case "ApplyPatchObservation":
      return Object.entries(recordAt(recordAt(observation, "commit"), "changes") ?? {}).map(
        ([path, change]) => {
          const fields = asRecord(change);
          return {
            path: textAt(fields, "move_path") || path,
            isNew: fields?.["type"] === "add",
            isDeleted: fields?.["type"] === "delete",
            before: textAt(fields, "old_content"),
            after: textAt(fields, "new_content"),
          };
        },
      );
    default:
      return [];
  }
}

function fileEdit(path: string, observation: UnknownRecord, isNew: boolean): Edit {
  const place = { path, isNew, isDeleted: false };
  const patch = textAt(observation, "patch");
  if (patch !== "") return { ...place, patch };
  return { ...place, before: textAt(observation, "old_content"), after: textAt(observation, "new_content") };
}

function plannedEdits(action: UnknownRecord): Edit[] {
  const change = (path: string, before: string, after: string, isNew = false): Edit[] => [
    { path, isNew, isDeleted: false, before, after },
  ];
  switch (action["kind"]) {
    case "FileEditorAction":
    case "PlanningFileEditorAction": {
      const path = textAt(action, "path");
      if (action["command"] === "create") return change(path, "", textAt(action, "file_text"), true);
      if (action["command"] === "str_replace")
        return change(path, textAt(action, "old_str"), textAt(action, "new_str"));
      if (action["command"] === "insert") return change(path, "", textAt(action, "new_str"));
      return [];
    }
    case "EditAction":
      return change(textAt(action, "file_path"), textAt(action, "old_string"), textAt(action, "new_string"));
    case "WriteFileAction":
      return change(textAt(action, "file_path"), "", textAt(action, "content"), true);
    default:
      return [];
  }
}
