import type { DatabaseSync, StatementSync } from "node:sqlite";

/** More texts than the server's own; lists of parameters of every length go round in what is left. */
const maxStatements = 128;

/** Nothing else: some pragmas, `synchronous` among them, do their work while they are prepared, and would do it only once. */
const cachedKinds = /^(select|insert|update|delete|with|begin|commit|rollback)\b/i;

/** Statements of one connection by their text: to prepare one takes SQLite several times as long as to run it. */
export class CachedStatements {
  readonly #database: DatabaseSync;
  /** The longest unused first. */
  readonly #cached = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** To be run to its end before it is asked for again. */
  get(sql: string): StatementSync {
    if (!cachedKinds.test(sql)) return this.#database.prepare(sql);
    const statement = this.#cached.get(sql) ?? this.#database.prepare(sql);
    this.#cached.delete(sql);
    this.#cached.set(sql, statement);
    if (this.#cached.size > maxStatements) this.#cached.delete(this.#cached.keys().next().value ?? sql);
    return statement;
  }
}
