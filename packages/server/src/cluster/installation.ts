import type { Pool } from "pg";

/** A text that the first process of an installation writes and all others read. */
export class InstallationText {
  readonly #pool: Pool;
  readonly #name: string;

  constructor(pool: Pool, name: string) {
    this.#pool = pool;
    this.#name = name;
  }

  async read(): Promise<string | null> {
    const { rows } = await this.#pool.query<{ value: string }>(
      "SELECT value FROM convoke.installation WHERE name = $1",
      [this.#name],
    );
    return rows[0]?.value ?? null;
  }

  /** False when there is one already; of several processes exactly one wins. */
  async writeOnce(value: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      "INSERT INTO convoke.installation (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING",
      [this.#name, value],
    );
    return rowCount === 1;
  }
}
