import type { ConversationRow } from "../journal/journal.ts";
import { CarefulRecovery } from "./careful-recovery.ts";
import type { DirectoryDeps } from "./directory-deps.ts";
import type { LoadedConversations } from "./loaded-conversations.ts";
import { Orphans, type Claimed, type RoundOptions, type RunTaker } from "./orphans.ts";
import { configOf, readConfig } from "../engine/read-config.ts";
import { OwnedElsewhere } from "../engine/refusals.ts";
import type { ConversationSessions } from "../tools/conversation-sessions.ts";

export type RecoveryDeps = Pick<
  DirectoryDeps,
  "chooseHost" | "clock" | "isAttended" | "journal" | "logger" | "standstills"
> & {
  readonly loaded: Pick<LoadedConversations, "has" | "hold" | "isClosed" | "open">;
  readonly sessions: Pick<ConversationSessions, "canReachWorkspace">;
};

/** Goes on with runs that nobody works on: the last process of this server left them, or another server on the same store did. */
export class Recovery implements AsyncDisposable {
  readonly #deps: RecoveryDeps;
  readonly #orphans: Orphans;
  readonly #careful: CarefulRecovery;

  constructor(deps: RecoveryDeps) {
    this.#deps = deps;
    const { clock, journal, loaded, logger, standstills } = deps;
    this.#careful = new CarefulRecovery({
      standstills,
      runs: {
        goOnWith: (id) => this.#goOnWith(id),
        isRunning: async (id) => (await journal.getConversation(id))?.executionStatus === "running",
      },
      clock,
    });
    const taker: RunTaker = {
      isOurs: (id) => loaded.isClosed || loaded.has(id) || this.#careful.isWaiting(id),
      canHost: (row) => this.#canHost(row),
      hasFiles: (row) => this.#hasFiles(row),
      hold: (ids) => loaded.hold(ids),
      goOnWith: (id, claimed) => this.#goOnWith(id, claimed),
      onFailure: (error) => logger.error({ error: String(error) }, "unfinished runs could not be resumed"),
    };
    this.#orphans = new Orphans({ journal, taker });
  }

  /** See {@link Directory.recover}. */
  async begin(): Promise<void> {
    const { isAttended, standstills } = this.#deps;
    if (isAttended) return;
    const suspects = await this.#orphans.takeUpAll(
      (id) => standstills.isSuspect(id) && !standstills.isSetAside(id),
    );
    this.#careful.begin(suspects);
  }

  /** See {@link Directory.takeUp}. */
  async poll(options?: RoundOptions): Promise<void> {
    if (this.#deps.isAttended) return;
    await this.#orphans.takeUp(options);
    await this.#careful.absolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#careful[Symbol.asyncDispose]();
  }

  async #canHost(row: ConversationRow): Promise<boolean> {
    try {
      const config = configOf(row);
      const { stateDir } = await this.#deps.chooseHost(config, row.ownerId);
      return stateDir !== null || (await this.#deps.sessions.canReachWorkspace(config));
    } catch {
      // The caller that opens the conversation gets the reason; a server that can host it resumes it.
      return false;
    }
  }

  async #hasFiles(row: ConversationRow): Promise<boolean> {
    const config = readConfig(row);
    if (config === null) return false;
    return row.sandboxId !== null || (await this.#deps.sessions.canReachWorkspace(config));
  }

  async #goOnWith(id: string, claimed: Claimed | null = null): Promise<void> {
    const { journal, loaded, logger } = this.#deps;
    try {
      const row = claimed?.row ?? (await journal.getConversation(id));
      // A fork whose copying the last process did not bring to its end.
      if (row?.isCopying === true)
        await journal.deleteConversation(claimed?.lease ?? (await journal.claim(id)));
      else await loaded.open(id, claimed);
    } catch (error) {
      // Its owner resumes it.
      if (error instanceof OwnedElsewhere) return;
      logger.warn({ conversation: id, error: String(error) }, "run could not be resumed");
    }
  }
}
