import { posix } from "node:path";
import type { Action } from "@convoke/protocol";

/** What one open action needs for itself. Keys are `<type>:<name>`; what only reads needs none. */
export type Claim = {
  readonly id: string;
  readonly isReadOnly: boolean;
  /** Ends the turn, so it comes after everything before it. */
  readonly isLast: boolean;
  readonly keys: readonly string[];
};

/** How many calls that only read are in progress at once where the agent sets no limit. */
const mostReads = 8;

/** The claim of a call; the shell is one place, a file is one place, and a tool that says nothing is one place. */
export function claimOf(
  call: { readonly id: string; readonly toolName: string; readonly action: Action | null },
  isReadOnly: boolean,
): Claim {
  const isLast = call.toolName === "finish";
  return { id: call.id, isReadOnly, isLast, keys: isReadOnly ? [] : [keyOf(call.toolName, call.action)] };
}

/**
 * Which of the open actions may begin now, in the order of the log. Without a limit of the agent, calls that only read run
 * side by side and every other call waits for all before it, so that a read sees what was written. With a limit above one,
 * calls run side by side where their keys differ: the agent's author has said that order does not matter.
 */
export function startable(
  claims: readonly Claim[],
  running: ReadonlySet<string>,
  limit: number | undefined,
): string[] {
  const started: string[] = [];
  let free = (limit ?? mostReads) - running.size;
  claims.forEach((claim, index) => {
    if (free <= 0 || running.has(claim.id)) return;
    if (claims.slice(0, index).some((earlier) => excludes(earlier, claim, limit !== undefined))) return;
    started.push(claim.id);
    free -= 1;
  });
  return started;
}

function excludes(left: Claim, right: Claim, isByKeys: boolean): boolean {
  if (left.isLast || right.isLast) return true;
  if (!isByKeys) return !(left.isReadOnly && right.isReadOnly);
  return left.keys.some((key) => right.keys.includes(key));
}

function keyOf(toolName: string, action: Action | null): string {
  if (action !== null && "path" in action && typeof action.path === "string" && toolName === "file_editor") {
    return `file:${posix.normalize(action.path)}`;
  }
  return `tool:${toolName}`;
}
