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

  /** False when the text exists already; of several processes exactly one wins. */
  async writeOnce(value: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      "INSERT INTO convoke.installation (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING",
      [this.#name, value],
    );
    return rowCount === 1;
  }

  /** Replaces the text `name`, which must exist, by this one, which is then removed. */
  async takePlaceOf(name: string): Promise<void> {
    await this.#pool.query(
      `WITH next AS (DELETE FROM convoke.installation WHERE name = $1 RETURNING value)
       UPDATE convoke.installation i SET value = next.value FROM next WHERE i.name = $2`,
      [this.#name, name],
    );
  }

  async remove(): Promise<void> {
    await this.#pool.query("DELETE FROM convoke.installation WHERE name = $1", [this.#name]);
  }
}

const checkName = "master-key-check";

/** The check value that identifies the right secret key, shared by all nodes. */
export function openKeyCheck(pool: Pool): SharedKeyCheck {
  const present = new InstallationText(pool, checkName);
  const next = new InstallationText(pool, `${checkName}-next`);
  return {
    read: () => present.read(),
    writeOnce: (value) => present.writeOnce(value),
    next,
    takeNext: () => next.takePlaceOf(checkName),
  };
}

export type SharedKeyCheck = Pick<InstallationText, "read" | "writeOnce"> & {
  readonly next: InstallationText;
  readonly takeNext: () => Promise<void>;
};
