import { isAbsolute, posix } from "node:path";
import type { ToolListing } from "@convoke/tool-host";
import { isAddedField } from "./added-fields.ts";
import type { NamedCall } from "./tool-name.ts";

/** Models that were trained on patches call this tool, whatever tools they have. */
export const patchToolName = "apply_patch";

type Edit = { readonly path: string; readonly oldText: string; readonly newText: string };
type Refused = { readonly error: string };

/**
 * A patch as a call of the editing tool that the agent has; null when it has none. The wire has no kind for patches, and one call is one
 * action: a patch of one place in one file, or of one new file, is an edit, and for any other the model is told to send its parts.
 */
export function readPatchCall(
  values: Readonly<Record<string, unknown>>,
  listingOf: (name: string) => ToolListing | undefined,
): NamedCall | Refused | null {
  const editor = listingOf("edit") ?? listingOf("file_editor");
  if (editor === undefined) return null;
  const { patch, input = patch } = values;
  if (typeof input !== "string")
    return { error: `The arguments of ${patchToolName} have no text in "patch".` };
  const edit = readPatch(input);
  if ("error" in edit) return edit;
  const beside = Object.fromEntries(Object.entries(values).filter(([key]) => isAddedField(key)));
  return { name: editor.name, values: { ...argumentsFor(editor, edit), ...beside } };
}

function argumentsFor(editor: ToolListing, { path, oldText, newText }: Edit): Record<string, unknown> {
  if (editor.actionKind === "EditAction")
    return { file_path: path, old_string: oldText, new_string: newText };
  const base = editor.traits?.file?.base ?? "/";
  const absolute = isAbsolute(path) ? path : posix.join(base, path);
  return oldText === ""
    ? { command: "create", path: absolute, file_text: newText }
    : { command: "str_replace", path: absolute, old_str: oldText, new_str: newText };
}

/** Anchors are passed over: what is replaced must occur once. */
function readPatch(text: string): Edit | Refused {
  const lines = text.trim().split(/\r?\n/u);
  if (lines[0] !== "*** Begin Patch" || lines.at(-1) !== "*** End Patch")
    return refused("It begins with *** Begin Patch and ends with *** End Patch, each on a line of its own.");
  const [first = "", ...body] = lines.slice(1, -1);
  const [, verb, path = ""] = /^\*\*\* (Add|Update|Delete) File: (.+)$/u.exec(first) ?? [];
  if (verb === undefined) return refused("Its second line is *** Add File: or *** Update File: with a path.");
  if (verb === "Delete" || body.some((line) => line.startsWith("*** Move to: ")))
    return refused("Files are deleted and moved in the terminal.");
  if (body.some((line) => /^\*\*\* (?:Add|Update|Delete) File: /u.test(line))) return inParts("file");
  return verb === "Add" ? readNewFile(path, body) : readHunk(path, body);
}

function readNewFile(path: string, body: readonly string[]): Edit | Refused {
  if (body.length === 0 || body.some((line) => !line.startsWith("+")))
    return refused("Every line of a new file begins with +.");
  return { path, oldText: "", newText: `${body.map((line) => line.slice(1)).join("\n")}\n` };
}

function readHunk(path: string, body: readonly string[]): Edit | Refused {
  const lines = body.filter((line) => line !== "*** End of File");
  const isAnchor = (line: string): boolean => line === "@@" || line.startsWith("@@ ");
  const start = lines.findLastIndex(isAnchor) + 1;
  if (lines.slice(0, start).some((line) => !isAnchor(line))) return inParts("place");
  const hunk = lines.slice(start);
  if (hunk.some((line) => !/^(?:[ +-]|$)/u.test(line)))
    return refused("Lines of a change begin with a space, + or -.");
  const textOf = (sign: "+" | "-"): string[] =>
    hunk
      .filter((line) => line === "" || line.startsWith(" ") || line.startsWith(sign))
      .map((line) => line.slice(1));
  const [oldLines, newLines] = [textOf("-"), textOf("+")];
  if (oldLines.join("") === "") return refused("Give some lines that stand there around the change.");
  // Lines that go altogether take their line end along.
  const end = newLines.length === 0 ? "\n" : "";
  return { path, oldText: oldLines.join("\n") + end, newText: newLines.join("\n") };
}

function inParts(what: "file" | "place"): Refused {
  return refused(
    `It changes more than one ${what}. Send one patch for each ${what}; several calls in one answer are fine.`,
  );
}

function refused(reason: string): Refused {
  return { error: `The patch was not understood, and nothing was changed. ${reason}` };
}
