import { ToolHostUnreachableError, WorkspaceError, type WorkspaceProblem } from "@convoke/tool-host";
import { Fault, invalidField } from "../lib/fault.ts";

/** What a workspace or a command refuses, as it crosses the wire; anything else is thrown on. */
export function toFault(error: unknown): unknown {
  if (error instanceof ToolHostUnreachableError) {
    return new Fault("not-now", "machine_unreachable", "The machine does not answer. Try again in a moment.");
  }
  if (!(error instanceof WorkspaceError)) return error;
  if (error.code === "unknown-page") {
    return invalidField(["query", "page_id"], `${error.message} Start again without page_id.`);
  }
  return faults[error.code](error.message);
}

type Refusal = Exclude<WorkspaceProblem, "unknown-page">;

/** Statuses are those of the reference. */
const faults: Readonly<Record<Refusal, (message: string) => Fault>> = {
  "not-found": (message) => new Fault("missing", "path_not_found", message),
  "invalid-path": (message) => new Fault("unusable", "invalid_path", message),
  "outside-root": (message) => new Fault("unusable", "path_outside", message),
  "not-a-file": (message) => new Fault("unusable", "not_a_file", message),
  "not-a-directory": (message) => new Fault("unusable", "not_a_directory", message),
  "not-permitted": (message) => new Fault("refused", "path_refused", message),
  "bad-ref": (message) => new Fault("unusable", "bad_ref", message),
  "not-text": (message) => new Fault("unusable", "not_text", message),
  "too-large": (message) => new Fault("unusable", "too_large_to_show", message),
  "no-repository": (message) => new Fault("unusable", "no_repository", message),
  "bad-repository": (message) => new Fault("unusable", "bad_repository", message),
  "no-space": (message) => new Fault("not-now", "storage_failed", message),
  "too-many-commands": (message) => new Fault("too-many", "too_many_commands", message),
};
