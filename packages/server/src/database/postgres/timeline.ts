import { DatabaseError, type Client } from "pg";
import { DatabaseUnavailableError } from "../../lib/database-unavailable.ts";

type Asked = Pick<Client, "query">;

/** Reads over a connection to the database as it is now; no other one is used before it resolves. */
export type TurnListener = (connection: Asked) => Promise<void> | void;

/**
 * Which line of its history the database is on. A standby that takes over begins a new one, and so does a database that is brought back to
 * an earlier moment: what was committed last may be missing there. Owners of caches are notified before anything
 * else is read.
 */
export class Timeline {
  readonly #listeners = new Set<TurnListener>();
  #era: string | null = null;
  /** False for a service that does not say. */
  #isReported = true;
  #turning: Promise<void> = Promise.resolve();

  /** Names the line among those of all databases; null where that is not known. */
  get era(): string | null {
    return this.#era;
  }

  /** Called again when it fails, with the next connection. Returns the unsubscribe function. */
  onTurn(listener: TurnListener): () => void {
    const own: TurnListener = (connection) => listener(connection);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /**
   * Call with a new connection, before anything is asked over it; and now and then, because a pooler keeps connections through a change.
   * Rejects for a standby: what it answers may be old, and over this connection nobody would notice its promotion.
   */
  async note(connection: Asked): Promise<void> {
    const found = await this.#read(connection);
    if (found === null) return;
    const before = this.#era;
    this.#era = found;
    if (before !== null && before !== found) this.#turning = this.#turn(connection, before);
    await this.#turning;
  }

  async #turn(connection: Asked, before: string): Promise<void> {
    try {
      for (const listener of this.#listeners) await listener(connection);
    } catch (error) {
      this.#era = before;
      this.#turning = Promise.resolve();
      throw error;
    }
  }

  async #read(connection: Asked): Promise<string | null> {
    if (!this.#isReported) return null;
    try {
      const { rows } = await connection.query<{ era: string | null }>(eraSql);
      const { era = null } = rows[0] ?? {};
      if (era === null) throw new DatabaseUnavailableError("The database is a standby");
      return era;
    } catch (error) {
      if (!(error instanceof DatabaseError && notThereCodes.has(error.code ?? ""))) throw error;
      this.#isReported = false;
      return null;
    }
  }
}

/** Null of a standby. The first eight digits of a file of the log are the line's number. A copy in another database has numbers of its own. */
const eraSql = `
  SELECT CASE WHEN NOT pg_is_in_recovery()
    THEN concat_ws('.', system_identifier, d.oid, left(pg_walfile_name(pg_current_wal_lsn()), 8)) END AS era
  FROM pg_control_system(), pg_database d WHERE d.datname = current_database()`;

/** No such function, not allowed, not supported. */
const notThereCodes: ReadonlySet<string> = new Set(["42883", "42501", "0A000"]);
