import type { MetricsSnapshot } from "@convoke/protocol";
import type { Condensing } from "../agent/condense/condensing.ts";
import type { EventDraft, StampedEvent } from "../events/event-draft.ts";
import { stateUpdate } from "../events/state-update.ts";
import { warning } from "../events/warning.ts";
import type { Decision } from "./commands/decide.ts";
import type { ConversationConfig } from "./conversation-config.ts";
import type { ConversationLog } from "./conversation-log.ts";
import type { LazySession } from "./lazy-session.ts";
import { withRunFacts } from "./run/run-facts.ts";
import type { Runner } from "./run/runner.ts";
import type { SharedParts } from "./shared-parts.ts";
import type { ConversationState } from "./state/conversation-state.ts";
import { unusedWarning } from "./unused-fields.ts";

export type WriterDeps = Pick<SharedParts, "configuration" | "id" | "log" | "logger" | "queue"> & {
  readonly isAttended: boolean;
  readonly condensing: Condensing;
  readonly runner: Runner;
  readonly session: LazySession;
};

/** Turns decisions into events, and starts or aborts the run that follows from them. */
export class Writer {
  readonly #deps: WriterDeps;

  constructor(deps: WriterDeps) {
    this.#deps = deps;
  }

  /** Decides inside the mailbox and stores the result. */
  async command(decide: (state: ConversationState) => Decision): Promise<void> {
    const { log, queue } = this.#deps;
    await queue.post(async () => {
      await this.commit(decide(log.state));
    });
  }

  /** Stores a decision and starts what follows from it; call inside the mailbox. */
  async commit(
    decision: Decision,
    extra: Parameters<ConversationLog["append"]>[1] = {},
  ): Promise<StampedEvent[]> {
    const { condensing, log, runner } = this.#deps;
    if (decision.isAbort === true) {
      runner.abort();
      condensing.abort();
    }
    if (decision.drafts.length === 0) return [];
    const stamped = await log.append(this.#withFacts(decision.drafts), extra);
    runner.ensure();
    return stamped;
  }

  /** Like commit, with a change of the configuration in the same commit; the tools are reopened. */
  async commitChange(
    change: Partial<ConversationConfig>,
    decision: Decision,
    extra: Parameters<ConversationLog["append"]>[1] = {},
  ): Promise<StampedEvent[]> {
    const stamped = await this.#storeChange(change, decision, extra);
    this.#deps.session.renew();
    this.#deps.runner.ensure();
    return stamped;
  }

  /** The same for a change that tools do not depend on. */
  async commitSetting(change: Partial<ConversationConfig>, decision: Decision): Promise<void> {
    await this.#storeChange(change, decision, {});
    this.#deps.runner.ensure();
  }

  async #storeChange(
    change: Partial<ConversationConfig>,
    decision: Decision,
    extra: Parameters<ConversationLog["append"]>[1] = {},
  ): Promise<StampedEvent[]> {
    const { configuration, log } = this.#deps;
    return await configuration.changeWith(change, (drafts, patch) =>
      log.append(this.#withFacts([...decision.drafts, ...drafts]), {
        ...extra,
        patch: { ...extra.patch, ...patch },
      }),
    );
  }

  /** Appends to the log through the mailbox. */
  notify(draft: EventDraft): void {
    const { id, log, logger, queue } = this.#deps;
    queue
      .post(() => log.append([draft]))
      .catch((error: unknown) => {
        logger.warn({ conversation: id, error: String(error) }, "a notice could not be stored");
      });
  }

  /** Logs a warning, once per field, about request fields without effect. Never rejects. */
  async warnOfUnused(fields: readonly string[]): Promise<void> {
    const { id, log, logger, queue } = this.#deps;
    try {
      await queue.post(async () => {
        const value = unusedWarning(fields, log.state.unusedFields);
        if (value !== null) await log.append([warning(value)]);
      });
    } catch (error) {
      // The request has succeeded: an error now would make the client repeat it.
      logger.warn({ conversation: id, error: String(error) }, "unused fields could not be reported");
    }
  }

  /** Replaces the usage total under this usage id. */
  async putStats(usageId: string, total: MetricsSnapshot): Promise<void> {
    const { log, queue } = this.#deps;
    await queue.post(() => {
      const all = { ...log.state.stats, [usageId]: total };
      return log.append([stateUpdate("stats", { usage_to_metrics: all })]);
    });
  }

  #withFacts(drafts: readonly EventDraft[]): readonly EventDraft[] {
    const { configuration, isAttended } = this.#deps;
    const { settings_version: settingsVersion, settings_used: settingsUsed } = configuration.config;
    return withRunFacts(drafts, { settingsVersion, settingsUsed, isAttended });
  }
}
