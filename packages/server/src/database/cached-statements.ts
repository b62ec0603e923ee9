import type { DatabaseSync, StatementSync } from "node:sqlite";
import { BoundedCache } from "../lib/bounded-cache.ts";

/** Nothing else: some pragmas, `synchronous` among them, do their work while they are prepared, and would do it only once. */
const cachedKinds = /^(select|insert|update|delete|with|begin|commit|rollback)\b/i;

/** Statements of one connection by their text: to prepare one takes SQLite several times as long as to run it. */
export class CachedStatements {
  readonly #database: DatabaseSync;
  readonly #returnsArrays: boolean;
  readonly #cached: BoundedCache<StatementSync>;

  /** By default there is room for more texts than the server's own; lists of parameters of every length go round in what is left. */
  constructor(
    database: DatabaseSync,
    { max = 128, returnsArrays = false }: { readonly max?: number; readonly returnsArrays?: boolean } = {},
  ) {
    this.#database = database;
    this.#cached = new BoundedCache(max);
    this.#returnsArrays = returnsArrays;
  }

  /** To be run to its end before it is asked for again. */
  get(sql: string): StatementSync {
    const known = this.#cached.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    if (this.#returnsArrays) statement.setReturnArrays(true);
    if (cachedKinds.test(sql)) this.#cached.set(sql, statement);
    return statement;
  }
}
