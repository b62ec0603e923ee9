import { DatabaseError, type Pool, type PoolClient } from "pg";
import { ConfigError } from "../lib/config-error.ts";

/** A part of the schema. Each step only adds to the steps before it, so the previous release can run beside it. */
export type SchemaPart = {
  readonly name: string;
  /** The version that the first step reaches. Lower ones were never released, and are refused. */
  readonly firstVersion: number;
  /** One a version. A step behind the first only adds: tables, columns with defaults, indexes. */
  readonly steps: readonly string[];
};

/** The version that this program brings a part to. */
export function versionOf({ firstVersion, steps }: SchemaPart): number {
  return firstVersion + steps.length - 1;
}

/** Why a version of a part from before the first release is not read; `place` says which database. */
export function unreleasedMessage({ name }: SchemaPart, place: string, version: number): string {
  return `The part "${name}" of the database${place} has format ${version}, of a development version from before the first release: use an empty database, or the version that made it.`;
}

/**
 * Brings one part up to date. Processes that start together wait for each other at the part's row. No lock outlives its
 * transaction, so this works through poolers too. A newer version that is compatible with this one is left unchanged.
 */
export async function migrate(pool: Pool, part: SchemaPart): Promise<void> {
  await makeParts(pool);
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await runSteps(client, part);
    await client.query("COMMIT");
    client.release();
  } catch (error) {
    // Closing the connection rolls back the transaction.
    client.release(true);
    throw error;
  }
}

async function runSteps(client: PoolClient, part: SchemaPart): Promise<void> {
  const { name, firstVersion, steps } = part;
  await client.query("INSERT INTO convoke.parts (name) VALUES ($1) ON CONFLICT DO NOTHING", [name]);
  const { rows } = await client.query<{ version: number; oldest: number }>(
    "SELECT version, oldest FROM convoke.parts WHERE name = $1 FOR UPDATE",
    [name],
  );
  const { version = 0, oldest = 0 } = rows[0] ?? {};
  const target = versionOf(part);
  if (oldest > target) {
    throw new ConfigError(
      `The part "${name}" of the database has format ${version}, which versions from format ${oldest} on work with. This one has format ${target}: use a newer version.`,
    );
  }
  if (version >= target) return;
  if (version > 0 && version < firstVersion) throw new ConfigError(unreleasedMessage(part, "", version));
  for (const step of steps.slice(Math.max(0, version - firstVersion + 1))) await client.query(step);
  await client.query("UPDATE convoke.parts SET version = $2 WHERE name = $1", [name, target]);
}

/** `oldest`: programs that know lower versions of the part only must not work with it. */
const partsTable = `
CREATE SCHEMA IF NOT EXISTS convoke;
CREATE TABLE IF NOT EXISTS convoke.parts (
  name text COLLATE "C" PRIMARY KEY,
  version integer NOT NULL DEFAULT 0,
  oldest integer NOT NULL DEFAULT 0
)`;

/**
 * When two processes create it at once, a unique key of the catalogue refuses one, which finds the schema when it
 * retries.
 */
async function makeParts(pool: Pool): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await pool.query(partsTable);
      return;
    } catch (error) {
      const isRace =
        error instanceof DatabaseError && ["23505", "42P06", "42P07", "XX000"].includes(error.code ?? "");
      if (!isRace || tries === 5) throw error;
    }
  }
}
