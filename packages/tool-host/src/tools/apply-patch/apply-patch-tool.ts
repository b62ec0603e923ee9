import type {
  Action,
  ApplyPatchAction,
  ApplyPatchObservation,
  ApplyPatchTool,
  Commit,
  Observation,
  ToolDefinition,
} from "@convoke/protocol";
import type { Tool, ToolContext } from "../../tool.ts";
import { annotate } from "../define-tool.ts";
import { fileProblem } from "../file-editor/file-problem.ts";
import { textPart } from "../observation-content.ts";
import { makeChanges } from "./make-changes.ts";
import { parsePatch } from "./parse-patch.ts";
import { planChanges, type Change } from "./plan-changes.ts";

/** Changes several files with one patch: all of them or none. */
export const applyPatchTool: Tool = {
  name: "apply_patch",
  actionKind: "ApplyPatchAction",
  isReadOnly: false,
  traits: ({ workspaceDir }) => ({ patch: { field: "patch", base: workspaceDir } }),
  // The wire contains these kinds only for clients that asked for the tool.
  define: () => definition as unknown as ToolDefinition,
  open: async (context) => ({
    execute: async (action: Action, { signal }) =>
      (await apply(action as unknown as ApplyPatchAction, context, signal)) as unknown as Observation,
    [Symbol.asyncDispose]: async () => {},
  }),
};

async function apply(
  { patch }: ApplyPatchAction,
  { workspaceDir }: ToolContext,
  signal: AbortSignal,
): Promise<ApplyPatchObservation> {
  try {
    const { changes, fuzz } = await planChanges(workspaceDir, parsePatch(patch));
    signal.throwIfAborted();
    await makeChanges(changes);
    const inexact =
      fuzz === 0
        ? ""
        : "\nSome lines stood there with other white space, or elsewhere; check that the right place was changed.";
    const text = `${changes.map(describe).join("\n")}${inexact}`;
    return { ...observe(text), fuzz, commit: commitOf(changes) };
  } catch (error) {
    const problem = fileProblem(error, pathOf(error) ?? workspaceDir);
    if (problem === undefined) throw error;
    return { ...observe(`The patch was not applied; no file was changed. ${problem}`), is_error: true };
  }
}

function describe({ type, path, movePath, newBytes }: Change): string {
  if (type === "add") return `Added ${path}.`;
  if (type === "delete") return `Deleted ${path}.`;
  if (movePath === null) return `Updated ${path}.`;
  return newBytes === null ? `Moved ${path} to ${movePath}.` : `Updated ${path} and moved it to ${movePath}.`;
}

function commitOf(changes: readonly Change[]): Commit {
  const entries = changes.map(({ type, path, movePath, before, after }) => [
    path,
    {
      type,
      old_content: before,
      new_content: after,
      // As in the reference: an update without a move has an empty one.
      move_path: type === "update" ? (movePath ?? "") : null,
    },
  ]);
  return { changes: Object.fromEntries(entries) as Commit["changes"] };
}

function observe(text: string): ApplyPatchObservation {
  return {
    kind: "ApplyPatchObservation",
    content: [textPart(text)],
    is_error: false,
    message: text,
    fuzz: 0,
    commit: null,
  };
}

/** The file that the system error names. */
function pathOf(error: unknown): string | undefined {
  return error instanceof Error && "path" in error && typeof error.path === "string" ? error.path : undefined;
}

const description = `Change files with a patch: add, change, move and delete several at once. All of it is applied, or nothing.

*** Begin Patch
*** Add File: docs/new.md
+every line of the new file begins with a plus
*** Update File: src/app.ts
*** Move to: src/main.ts
@@ function start() {
 a line that stays begins with a space
-a line that goes
+a line that comes
*** Delete File: old.txt
*** End Patch

- Paths are relative to your working directory, and below it. Move to is left out where the file keeps its name.
- Each change of an update begins with @@. Behind it can be a line that stands somewhere above, such as the head of a function; @@ lines can follow each other to go further in.
- Give about three unchanged lines before and after each change, copied exactly, so that the place is found; the first place below the change before is taken. Changes are in the order of the file.
- *** End of File behind a change says that its last line is the last of the file.

Line ends, encoding and permissions of files stay as they are.`;

const definition: ApplyPatchTool = {
  kind: "ApplyPatchTool",
  title: "apply_patch",
  description,
  action_type: "ApplyPatchAction",
  observation_type: "ApplyPatchObservation",
  annotations: annotate("apply_patch", {
    readOnly: false,
    destructive: true,
    idempotent: false,
    openWorld: false,
  }),
  meta: null,
};
