import type { Clock } from "../lib/clock.ts";
import type { AutomationRun } from "./automation.ts";
import type { AutomationStore } from "./automation-store.ts";
import type { RunChange } from "./decision.ts";
import type { RunConversations, RunStatus } from "./run-conversations.ts";
import { RunRounds } from "./run-rounds.ts";

export type RunSettlerDeps = {
  readonly store: AutomationStore;
  readonly conversations: Pick<RunConversations, "statuses">;
  readonly clock: Clock;
};

const batch = 50;

/** Records the ends of started runs, as their conversations have them. */
export class RunSettler {
  readonly #deps: RunSettlerDeps;
  readonly #started: RunRounds;

  constructor(deps: RunSettlerDeps) {
    this.#deps = deps;
    this.#started = new RunRounds(deps.store, "started", batch);
  }

  /** The next started runs of all, round and round. */
  async settleSome(): Promise<void> {
    await this.#settle(await this.#started.next());
  }

  /** Those of one automation, before a decision about its next run. */
  async settleOf(automationId: string): Promise<void> {
    const page = { beforeId: null, limit: batch, state: "started" } as const;
    await this.#settle(await this.#deps.store.runs(automationId, page));
  }

  /** The run of a conversation that has just come to rest. */
  async settleConversation(conversationId: string): Promise<void> {
    const run = await this.#deps.store.findRunOf(conversationId);
    if (run?.state === "started") await this.#settle([run]);
  }

  async #settle(runs: readonly AutomationRun[]): Promise<void> {
    if (runs.length === 0) return;
    const { store, conversations, clock } = this.#deps;
    const statuses = await conversations.statuses(runs.map(({ conversationId }) => conversationId ?? ""));
    for (const [index, run] of runs.entries()) {
      const end = endOf(statuses[index] ?? "deleted");
      if (end !== null) await store.changeRun(run.id, ["started"], { ...end, endedAtMs: clock.nowMs() });
    }
  }
}

function endOf(status: RunStatus): RunChange | null {
  switch (status) {
    case "active":
      return null;
    case "finished":
      return { state: "finished", reason: null };
    case "failed":
      return { state: "failed", reason: "The agent ended with an error; see the conversation." };
    case "paused":
      return { state: "finished", reason: "The conversation was paused." };
    case "deleted":
      return { state: "finished", reason: "The conversation was deleted." };
  }
}
