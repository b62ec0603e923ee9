import type { ConversationRow } from "../journal/journal.ts";
import type { Copies } from "./copies.ts";
import { SequentialRecovery } from "./sequential-recovery.ts";
import type { DirectoryDeps } from "./directory-deps.ts";
import type { LoadedConversations } from "./loaded-conversations.ts";
import { Orphans, type ClaimedRun, type PollOptions, type RunAdopter } from "./orphans.ts";
import { configOf, readConfig } from "../engine/read-config.ts";
import { OwnedElsewhere } from "../engine/refusals.ts";
import type { ConversationSessions } from "../tools/conversation-sessions.ts";

export type RecoveryDeps = Pick<
  DirectoryDeps,
  "chooseHost" | "clock" | "isAttended" | "journal" | "logger" | "standstills"
> & {
  readonly copies: Pick<Copies, "has">;
  readonly loaded: Pick<LoadedConversations, "has" | "hold" | "isClosed" | "open">;
  readonly sessions: Pick<ConversationSessions, "canReachWorkspace">;
};

/** Resumes runs that no live process owns: those of this server's last process, and of other servers on the same store that ended. */
export class Recovery implements AsyncDisposable {
  readonly #deps: RecoveryDeps;
  readonly #orphans: Orphans;
  readonly #sequential: SequentialRecovery;

  constructor(deps: RecoveryDeps) {
    this.#deps = deps;
    const { clock, copies, journal, loaded, logger, standstills } = deps;
    this.#sequential = new SequentialRecovery({
      standstills,
      runs: {
        resumeRun: (id) => this.#resumeRun(id),
        isRunning: async (id) => (await journal.getConversation(id))?.executionStatus === "running",
      },
      clock,
    });
    const adopter: RunAdopter = {
      isOurs: (id) => loaded.isClosed || loaded.has(id) || copies.has(id) || this.#sequential.isWaiting(id),
      canHost: (row) => this.#canHost(row),
      hasFiles: (row) => this.#hasFiles(row),
      hold: (ids) => loaded.hold(ids),
      resumeRun: (id, claimed) => this.#resumeRun(id, claimed),
      onFailure: (error) => logger.error({ error: String(error) }, "unfinished runs could not be resumed"),
    };
    this.#orphans = new Orphans({ journal, adopter });
  }

  /** See {@link Directory.recover}. */
  async start(): Promise<void> {
    const { isAttended, standstills } = this.#deps;
    if (isAttended) return;
    const suspects = await this.#orphans.adoptAll(
      (id) => standstills.isSuspect(id) && !standstills.isSetAside(id),
    );
    this.#sequential.start(suspects);
  }

  /** See {@link Directory.adoptOrphans}. */
  async poll(options?: PollOptions): Promise<void> {
    if (this.#deps.isAttended) return;
    await this.#orphans.poll(options);
    await this.#sequential.clearSuspects();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sequential[Symbol.asyncDispose]();
  }

  async #canHost(row: ConversationRow): Promise<boolean> {
    // It is removed, for which nothing of its machine is needed.
    if (row.isCopying) return true;
    try {
      const config = configOf(row);
      const { kind } = await this.#deps.chooseHost({ id: row.id, ownerId: row.ownerId, config });
      return kind === "sandbox" || (await this.#deps.sessions.canReachWorkspace(config));
    } catch {
      // Opening the conversation reports the error; a server that can host it resumes it.
      return false;
    }
  }

  async #hasFiles(row: ConversationRow): Promise<boolean> {
    if (row.isCopying) return true;
    const config = readConfig(row);
    if (config === null) return false;
    return row.sandboxId !== null || (await this.#deps.sessions.canReachWorkspace(config));
  }

  async #resumeRun(id: string, claimed: ClaimedRun | null = null): Promise<void> {
    const { journal, loaded, logger } = this.#deps;
    try {
      const row = claimed?.row ?? (await journal.getConversation(id));
      // A fork or an import whose process ended before it was whole.
      if (row?.isCopying === true)
        await journal.deleteConversation(claimed?.lease ?? (await journal.claim(id)));
      else await loaded.open(id, claimed);
    } catch (error) {
      // The owner resumes it.
      if (error instanceof OwnedElsewhere) return;
      logger.warn({ conversation: id, error: String(error) }, "run could not be resumed");
    }
  }
}
