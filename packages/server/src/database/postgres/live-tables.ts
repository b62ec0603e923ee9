import type { Compilable, Kysely } from "kysely";
import type { Logger } from "../../lib/logger.ts";
import { SharedRound } from "../../lib/shared-round.ts";
import type { LiveRows, LiveTable } from "../application-database.ts";
import type { Tables } from "../tables.ts";

export type LiveTablesDeps = {
  readonly tables: Kysely<Tables>;
  readonly logger: Logger;
  /** Interval between two polls for changes by other processes. */
  readonly pollMs: number;
};

type Watched = {
  readonly table: LiveTable;
  version: number;
  read: () => Promise<void>;
};

/**
 * Rows of small tables, cached in memory. A trigger counts the changes of each such table; one query for all of them tells what has to be
 * read again.
 */
export class LiveTables implements AsyncDisposable {
  readonly #deps: LiveTablesDeps;
  readonly #watched: Watched[] = [];
  readonly #polling = new SharedRound(() => this.#poll());
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  constructor(deps: LiveTablesDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => {
      this.#polling.ask().catch((error: unknown) => {
        if (!this.#isClosed)
          deps.logger.warn({ error: String(error) }, "changes of tables could not be read");
      });
    }, deps.pollMs).unref();
  }

  async open<Row>(table: LiveTable, query: Compilable<Row>): Promise<LiveRows<Row>> {
    let rows: readonly Row[] = [];
    const read = async (): Promise<void> => {
      rows = (await this.#deps.tables.executeQuery(query.compile())).rows;
    };
    this.#watched.push({ table, version: -1, read });
    const refresh = (): Promise<void> => this.#polling.ask();
    await refresh();
    return { now: () => rows, refresh };
  }

  /** All of them are read again: the numbers of their changes may have gone back. */
  forget(): void {
    for (const watched of this.#watched) watched.version = -1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    // The failure was logged.
    await this.#polling.ask().catch(() => {});
  }

  async #poll(): Promise<void> {
    if (this.#isClosed || this.#watched.length === 0) return;
    const found = await this.#deps.tables.selectFrom("table_versions").selectAll().execute();
    const versions = new Map(found.map(({ name, version }) => [name, version]));
    for (const watched of this.#watched) {
      // Read before the rows are: what is written meanwhile is read once more.
      const version = versions.get(watched.table) ?? 0;
      if (version === watched.version) continue;
      await watched.read();
      watched.version = version;
    }
  }
}
