import type { Action } from "@convoke/protocol";
import { placesOf, type ToolListing } from "@convoke/tool-host";
import { taskToolName } from "../../agent/task-tool-name.ts";

/** What one open action needs for itself. Keys are `<type>:<name>`; what only reads needs none. */
export type Claim = {
  readonly id: string;
  readonly isReadOnly: boolean;
  /** Ends the turn, so it comes after everything before it. */
  readonly isLast: boolean;
  /** Gives work to a sub-agent, whose conversation is a place of its own. */
  readonly isTask: boolean;
  readonly keys: readonly string[];
};

/** How many calls that only read are in progress at once where the agent sets no limit. */
const maxReads = 8;

/** How many sub-agents work for one conversation at once where the agent sets no limit. */
const maxTasks = 4;

type Call = { readonly id: string; readonly toolName: string; readonly action: Action | null };

/**
 * The claim of a call of a listed tool: its place as the tool's traits say it. A tool that is not listed is one place. With
 * `oneTask`, sub-agents work one after another.
 */
export function claimOf(call: Call, listing: ToolListing | undefined, oneTask = false): Claim {
  const isReadOnly = listing?.isReadOnly ?? false;
  const isLast = listing?.traits?.endsTurn ?? false;
  const isTask = call.toolName === taskToolName && !oneTask;
  const places = listing === undefined ? [`tool:${call.toolName}`] : placesOf(listing, call.action);
  const keys = isTask ? [`task:${resumedBy(call) ?? call.id}`] : places;
  return { id: call.id, isReadOnly, isLast, isTask, keys };
}

/**
 * Which of the open actions may begin now, in the order of the log. Without a limit of the agent, calls that only read run
 * side by side, so do different tasks of sub-agents, and every other call waits for all before it, so that a read sees what
 * was written. With a limit above one, calls run side by side where their keys differ: the agent's author has said that order
 * does not matter.
 */
export function startable(
  claims: readonly Claim[],
  running: ReadonlySet<string>,
  limit: number | undefined,
): string[] {
  const started: string[] = [];
  let free = (limit ?? maxReads) - running.size;
  let freeTasks = (limit ?? maxTasks) - claims.filter(({ id, isTask }) => isTask && running.has(id)).length;
  claims.forEach((claim, index) => {
    if (free <= 0 || running.has(claim.id) || (claim.isTask && freeTasks <= 0)) return;
    if (claims.slice(0, index).some((earlier) => excludes(earlier, claim, limit !== undefined))) return;
    started.push(claim.id);
    free -= 1;
    if (claim.isTask) freeTasks -= 1;
  });
  return started;
}

function excludes(left: Claim, right: Claim, isByKeys: boolean): boolean {
  if (left.isLast || right.isLast) return true;
  const isAlike = (left.isReadOnly && right.isReadOnly) || (left.isTask && right.isTask);
  if (!isByKeys && !isAlike) return true;
  return left.keys.some((key) => right.keys.includes(key));
}

/** A resumed task has one conversation, which does one thing after another. */
function resumedBy({ action }: Call): string | null {
  const resume = action !== null && "resume" in action ? action.resume : null;
  return typeof resume === "string" && resume !== "" ? resume : null;
}
