import { describeError } from "../lib/describe-error.ts";
import { Fault } from "../lib/fault.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { AutomationRun } from "./automation.ts";
import type { AutomationStore } from "./automation-store.ts";
import type { RunConversations } from "./run-conversations.ts";
import { toRunRequest } from "./run-request.ts";

export type RunStarterDeps = {
  readonly store: AutomationStore;
  readonly conversations: RunConversations;
  readonly cluster: { readonly nodeId: string };
  readonly clock: Clock;
  readonly logger: Logger;
};

/** A run that could not be started for another reason than a refusal is tried so often. */
const maxAttempts = 5;

/**
 * Turns claimed runs into started ones. Each step can be repeated after a crash and by another node: the id of the conversation was stored
 * with the claim, and a conversation with its first message is created once.
 */
export class RunStarter {
  readonly #deps: RunStarterDeps;

  constructor(deps: RunStarterDeps) {
    this.#deps = deps;
  }

  /** Rejects where the run stays claimed and should be tried again. */
  async start(claimed: AutomationRun): Promise<void> {
    const { store, conversations, cluster, clock } = this.#deps;
    const run = await store.findRun(claimed.id);
    const automation = run === null ? null : await store.find(run.automationId);
    if (run === null || automation === null || run.state !== "claimed" || run.conversationId === null) return;
    const { conversationId } = run;
    const refusal = conversations.refusalOf(automation.ownerId);
    if (refusal !== null) return await this.#end(run, "skipped", refusal);
    if (run.attempts >= maxAttempts && (await this.#isMissing(conversationId)))
      return await this.#end(run, "failed", "It could not be started: each attempt ended with its server.");
    const attempts = run.attempts + 1;
    const mine = { attempts, nodeId: cluster.nodeId };
    if (!(await store.changeRun(run.id, ["claimed"], mine))) return;
    await this.interruptReplaced(automation.id, automation.ownerId);
    try {
      const folder = automation.conversation.working_dir ?? (await conversations.folderFor(conversationId));
      const request = toRunRequest(automation, { ...run, conversationId }, folder);
      await conversations.start(automation.ownerId, request);
    } catch (error) {
      return await this.#onFailure({ ...run, attempts }, error);
    }
    // Another node may have failed with the same run meanwhile: the conversation exists.
    const started = { state: "started", startedAtMs: clock.nowMs(), endedAtMs: null, reason: null } as const;
    await store.changeRun(run.id, ["claimed", "failed"], started);
  }

  /** Interrupts the conversations of runs whose place later ones took, also those of a node that died before it did. */
  async interruptReplaced(automationId: string, ownerId: string): Promise<void> {
    const { store, conversations, clock } = this.#deps;
    const replaced = await store.runs(automationId, { beforeId: null, limit: 100, state: "replaced" });
    for (const { id, conversationId, endedAtMs } of replaced) {
      if (endedAtMs !== null) continue;
      if (conversationId !== null) await conversations.interrupt(ownerId, conversationId);
      await store.changeRun(id, ["replaced"], { endedAtMs: clock.nowMs() });
    }
  }

  async #onFailure(run: AutomationRun, error: unknown): Promise<void> {
    const { logger } = this.#deps;
    const isRefused = error instanceof Fault && error.kind !== "bug" && !passingCodes.has(error.code);
    if (!isRefused && run.attempts < maxAttempts) throw error;
    if (!(await this.#isMissing(run.conversationId!))) throw error;
    const reason = isRefused ? describeFault(error) : `It could not be started: ${describeError(error)}`;
    logger.warn({ automation: run.automationId, run: run.id, error: reason }, "a run could not be started");
    await this.#end(run, "failed", reason);
  }

  async #isMissing(conversationId: string): Promise<boolean> {
    const [status] = await this.#deps.conversations.statuses([conversationId]);
    return status === "deleted";
  }

  async #end(run: AutomationRun, state: "failed" | "skipped", reason: string): Promise<void> {
    const endedAtMs = this.#deps.clock.nowMs();
    await this.#deps.store.changeRun(run.id, ["claimed"], {
      state,
      reason: reason.slice(0, maxReason),
      endedAtMs,
    });
  }
}

const maxReason = 2_000;

/** The same start succeeds later, at this node or another one. */
const passingCodes: ReadonlySet<string> = new Set(["server_closing", "owned_elsewhere", "owner_away"]);

function describeFault({ message, fields }: Fault): string {
  const [first] = fields;
  return first === undefined ? message : `${first.loc.slice(1).join(".")}: ${first.msg}`;
}
