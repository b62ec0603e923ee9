import type { Pool } from "pg";

const pageRows = 200;

/**
 * Hands what each conversation keeps sealed to `change`, with a function that puts something else in its place. Needs no lease: no
 * process may work on conversations meanwhile.
 */
export async function changeSealedSecrets(
  pool: Pool,
  change: (sealed: string, store: (changed: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  for (let after = 0; ;) {
    const { rows } = await pool.query<{ number: number; sealed: string }>(
      `SELECT number, sealed_secrets AS sealed FROM convoke.documents
       WHERE sealed_secrets IS NOT NULL AND number > $1 ORDER BY number LIMIT ${pageRows}`,
      [after],
    );
    for (const { number, sealed } of rows) {
      await change(sealed, async (changed) => {
        await pool.query(
          "UPDATE convoke.documents SET sealed_secrets = $3 WHERE number = $1 AND sealed_secrets = $2",
          [number, sealed, changed],
        );
      });
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.number;
  }
}
