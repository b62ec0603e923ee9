import type { Compilable, Kysely, Transaction } from "kysely";
import type { liveTables, Tables } from "./tables.ts";

/** The application's tables: everything that is stored besides conversations. Several processes may share them. */
export interface ApplicationDatabase extends AsyncDisposable {
  readonly tables: Kysely<Tables>;
  /** What a query finds. Sees every write that was acknowledged before. */
  read<Row>(query: Compilable<Row>): Promise<readonly Row[]>;
  /**
   * As if nobody else wrote meanwhile, so that what was read may decide what is written. `work` may be called again when somebody
   * did, so it does nothing but read and write.
   */
  transaction<Result>(work: (tables: Transaction<Tables>) => Promise<Result>): Promise<Result>;
  /** Rows of a small table that are asked for at every request. */
  live<Row>(table: LiveTable, query: Compilable<Row>): Promise<LiveRows<Row>>;
  /**
   * For writes that come with every turn: a transaction that is seen by all when it resolves, and survives a power cut from
   * the end of {@link untilDurable} on.
   */
  commitSoon(work: (tables: Transaction<Tables>) => Promise<void>): Promise<void>;
  /** Resolves when everything survives a power cut that was committed before the call. */
  untilDurable(): Promise<void>;
}

export type LiveTable = (typeof liveTables)[number];

/** What a query finds, at hand without waiting. */
export interface LiveRows<Row> {
  /** The same array while nothing was written. What another process wrote is in it within a second. */
  now(): readonly Row[];
  /** Resolves when {@link now} has everything that was acknowledged before the call. */
  refresh(): Promise<void>;
}
