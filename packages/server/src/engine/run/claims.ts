import type { Action } from "@convoke/protocol";
import { placesOf, type ToolListing } from "@convoke/tool-host";
import { taskToolName } from "../../agent/task-tool-name.ts";

/** The resources that one open action needs exclusively, as keys `<type>:<name>`; reads need none. */
export type Claim = {
  readonly id: string;
  readonly isReadOnly: boolean;
  /** Ends the turn, so it runs after everything before it. */
  readonly isLast: boolean;
  /** Carried out by the client, which touches nothing of the workspace here. */
  readonly isOfClient: boolean;
  /** Starts a sub-agent, whose conversation is its own resource. */
  readonly isTask: boolean;
  readonly keys: readonly string[];
};

/** Default maximum of concurrent read-only calls. */
const maxReads = 8;

/** Default maximum of concurrent sub-agents of one conversation. */
const maxTasks = 4;

type Call = {
  readonly id: string;
  readonly toolName: string;
  readonly action: Action | null;
  readonly isOfClient?: boolean;
};

/**
 * The claim of a call, from the traits of its tool. An unlisted tool is one resource. With `oneTask`, sub-agents run
 * one after another.
 */
export function claimOf(call: Call, listing: ToolListing | undefined, oneTask = false): Claim {
  const isReadOnly = listing?.isReadOnly ?? false;
  const isLast = listing?.traits?.endsTurn ?? false;
  const isTask = call.toolName === taskToolName && !oneTask;
  const places = listing === undefined ? [`tool:${call.toolName}`] : placesOf(listing, call.action);
  const keys = isTask ? [`task:${resumedBy(call) ?? call.id}`] : places;
  const { id, isOfClient = false } = call;
  return { id, isReadOnly, isLast, isTask, isOfClient, keys: isOfClient ? [`call:${id}`] : keys };
}

/**
 * The open actions that may start now, in log order. By default read-only calls run concurrently, as do different
 * tasks of sub-agents; every other call waits for all before it, so that a read sees earlier writes. If the agent
 * sets a limit above one, calls with different keys run concurrently: its author states that order does not matter.
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
  const isAlike =
    (left.isReadOnly && right.isReadOnly) ||
    (left.isTask && right.isTask) ||
    (left.isOfClient && right.isOfClient);
  if (!isByKeys && !isAlike) return true;
  return left.keys.some((key) => right.keys.includes(key));
}

/** A resumed task has one conversation, which runs one thing at a time. */
function resumedBy({ action }: Call): string | null {
  const resume = action !== null && "resume" in action ? action.resume : null;
  return typeof resume === "string" && resume !== "" ? resume : null;
}
