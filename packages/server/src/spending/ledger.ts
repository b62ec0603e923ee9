import type { UserSpend } from "@convoke/protocol";
import type { CompiledQuery, Selectable, Transaction } from "kysely";
import type { ApplicationDatabase, LiveRows } from "../database/application-database.ts";
import type { Tables } from "../database/tables.ts";
import type { Logger } from "../lib/logger.ts";
import { SharedRound } from "../lib/shared-round.ts";
import type { ModelUsage } from "../models/model.ts";
import { compileSpend, wasCommitted, type SpendRow } from "./spend-lines.ts";
import type { Clock } from "../lib/clock.ts";
import { putRow, removeRows } from "../database/rows.ts";

export type LedgerDeps = {
  readonly database: ApplicationDatabase;
  /** US dollars that the operator lets every user spend in a day; null for no such limit. */
  readonly maxPerDay: number | null;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** The cost of some calls of one conversation, including billed retries. */
export type LedgerEntry = {
  readonly userId: string;
  readonly conversationId: string;
  readonly usages: readonly ModelUsage[];
};

type LimitRow = Selectable<Tables["user_budgets"]>;

type DatedEntry = LedgerEntry & { readonly day: string };

/** Entries of a transaction whose commit was not acknowledged. */
type Unanswered = { readonly transactionId: string; readonly entries: readonly DatedEntry[] };

/** How many conversations a report lists; its sums include all. */
const maxListed = 1000;
const askAgainMs = 1_000;

/**
 * The spending of all users: one row per user, day and conversation, written when a model call ends, whether or not its
 * answer is used. Deleted conversations stay in it, so that deleting does not refund a budget.
 */
export class Ledger {
  readonly #deps: LedgerDeps;
  readonly #limits: LiveRows<LimitRow>;
  readonly #storing = new SharedRound(() => this.#storeOwed());
  readonly #insert: CompiledQuery<SpendRow>;
  /** Resolves when the newest entry survives a power cut. */
  #settling: Promise<void> = Promise.resolve();
  /** Entries that are not stored yet, for example because the storage failed; they count. */
  #owed: readonly DatedEntry[] = [];
  /** Pending entries that may be stored already. */
  #unanswered: Unanswered | null = null;
  #isAsking = false;

  private constructor(deps: LedgerDeps, limits: LiveRows<LimitRow>) {
    this.#deps = deps;
    this.#limits = limits;
    this.#insert = compileSpend(deps.database.tables);
  }

  static async open(deps: LedgerDeps): Promise<Ledger> {
    const query = deps.database.tables.selectFrom("user_budgets").selectAll();
    return new Ledger(deps, await deps.database.live("user_budgets", query));
  }

  /**
   * Counts from the end of the call on, and survives this process; it survives a power cut after {@link untilDurable}.
   * When the storage fails, the entry stays in memory and counts nevertheless. Never rejects.
   */
  async record(entry: LedgerEntry): Promise<void> {
    if (entry.usages.length === 0) return;
    this.#owed = [...this.#owed, { ...entry, day: this.#today() }];
    await this.#storing.ask();
  }

  /** Resolves when all earlier entries survive a power cut, except those that the storage refused. */
  async untilDurable(): Promise<void> {
    await this.#settling;
  }

  /** Entries that arrive while others are being stored are stored together. */
  async #storeOwed(): Promise<void> {
    const { database, logger } = this.#deps;
    let due = this.#owed;
    let transactionId: string | null = null;
    try {
      await this.#learnUnanswered();
      due = this.#owed;
      await database.commitSoon(async (tables) => {
        for (const { userId, conversationId, day, usages } of due) {
          const { cost, calls, promptTokens, completionTokens } = sumOf(usages);
          const parameters = [userId, day, conversationId, cost, calls, promptTokens, completionTokens];
          const { rows } = await tables.executeQuery<SpendRow>({ ...this.#insert, parameters });
          transactionId = rows[0]?.transaction_id ?? null;
        }
      });
      this.#takeOff(due);
      this.#settling = this.#bringToDisk();
    } catch (error) {
      if (transactionId !== null) this.#unanswered = { transactionId, entries: due };
      if (this.#unanswered !== null) this.#askAgain();
      logger.error({ entries: due.length, error: String(error) }, "spending was not stored yet");
    }
  }

  /** Entries are stored again only when it is known that the transaction was not committed. */
  async #learnUnanswered(): Promise<void> {
    if (this.#unanswered === null) return;
    const { transactionId, entries } = this.#unanswered;
    if (await wasCommitted(this.#deps.database.tables, transactionId)) this.#takeOff(entries);
    this.#unanswered = null;
  }

  /** If the transaction was committed, its entries count twice until that is known. */
  #askAgain(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    setTimeout(() => {
      this.#isAsking = false;
      void this.#storing.ask();
    }, askAgainMs).unref();
  }

  #takeOff(entries: readonly DatedEntry[]): void {
    this.#owed = this.#owed.filter((owed) => !entries.includes(owed));
  }

  /** Turns do not wait for the disk: the next call under a budget does. */
  async #bringToDisk(): Promise<void> {
    const { database, logger } = this.#deps;
    try {
      await database.untilDurable();
    } catch (error) {
      logger.error({ error: String(error) }, "spending would not survive a power cut yet");
    }
  }

  /** US dollars of the user since midnight UTC; within a transaction, as seen there. */
  async spentToday(userId: string, within: Transaction<Tables> | null = null): Promise<number> {
    const day = this.#today();
    const { database } = this.#deps;
    const query = (within ?? database.tables)
      .selectFrom("spend_days")
      .select((select) => select.fn.sum<number | null>("cost").as("cost"))
      .where("user_id", "=", userId)
      .where("day", "=", day);
    const [row] = within === null ? await database.read(query) : await query.execute();
    return (row?.cost ?? 0) + this.#owedBy((owed) => owed.userId === userId && owed.day === day);
  }

  /** US dollars of one conversation on all days. */
  async spentIn(conversationId: string): Promise<number> {
    const { database } = this.#deps;
    const [row] = await database.read(
      database.tables
        .selectFrom("spend_days")
        .select((select) => select.fn.sum<number | null>("cost").as("cost"))
        .where("conversation_id", "=", conversationId),
    );
    return (row?.cost ?? 0) + this.#owedBy((owed) => owed.conversationId === conversationId);
  }

  /** US dollars that the user may spend in a day: the lower of the operator's limit and their own; null for neither. */
  dayLimit(userId: string): number | null {
    const limits = [this.#deps.maxPerDay, this.#ownDayLimit(userId)].filter((limit) => limit !== null);
    return limits.length === 0 ? null : Math.min(...limits);
  }

  /** Null removes the user's own limit. Takes effect with the next model call. */
  async setDayLimit(userId: string, limit: number | null): Promise<void> {
    const { tables } = this.#deps.database;
    const key = { user_id: userId };
    if (limit === null) await removeRows(tables, "user_budgets", key);
    else await putRow(tables, "user_budgets", { ...key, max_budget_per_day: limit });
    await this.#limits.refresh();
  }

  /** The user's spending in the last `days` days, including today. */
  async report(userId: string, days: number): Promise<UserSpend> {
    const since = dayOf(this.#deps.clock.nowMs() - (days - 1) * 86_400_000);
    const lines = this.#deps.database.tables
      .selectFrom("spend_days")
      .where("user_id", "=", userId)
      .where("day", ">=", since);
    const byDay = await lines
      .select((select) => ["day", select.fn.sum<number>("cost").as("cost")])
      .groupBy("day")
      .orderBy("day")
      .execute();
    const conversations = await lines
      .select((select) => [
        "conversation_id",
        select.fn.sum<number>("cost").as("cost"),
        select.fn.sum<number>("calls").as("calls"),
        select.fn.sum<number>("prompt_tokens").as("prompt_tokens"),
        select.fn.sum<number>("completion_tokens").as("completion_tokens"),
        select.fn.max("day").as("last_day"),
      ])
      .groupBy("conversation_id")
      .orderBy("cost", "desc")
      .limit(maxListed)
      .execute();
    return {
      cost: byDay.reduce((sum, { cost }) => sum + cost, 0),
      today: await this.spentToday(userId),
      max_budget_per_day: this.dayLimit(userId),
      own_max_budget_per_day: this.#ownDayLimit(userId),
      days: Object.fromEntries(byDay.map(({ day, cost }) => [day, cost])),
      conversations,
    };
  }

  #ownDayLimit(userId: string): number | null {
    const own = this.#limits.now().find((row) => row.user_id === userId);
    return own?.max_budget_per_day ?? null;
  }

  #owedBy(isMeant: (owed: DatedEntry) => boolean): number {
    return this.#owed.filter(isMeant).reduce((sum, { usages }) => sum + sumOf(usages).cost, 0);
  }

  #today(): string {
    return dayOf(this.#deps.clock.nowMs());
  }
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

function sumOf(usages: readonly ModelUsage[]) {
  return {
    cost: usages.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    calls: usages.length,
    promptTokens: usages.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    completionTokens: usages.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
  };
}
