import { sql, type CompiledQuery, type Kysely } from "kysely";
import { isPostgres } from "../database/is-postgres.ts";
import { isRefused } from "../database/postgres/is-refused.ts";
import type { Tables } from "../database/tables.ts";

/** The id of the transaction; only for PostgreSQL, where the reply to a commit may be lost. */
export type SpendRow = { readonly transaction_id?: string };

/** Runs in every turn, so its text is built once; its parameters are in the order of the columns. */
export function compileSpend(tables: Kysely<Tables>): CompiledQuery<SpendRow> {
  return tables
    .insertInto("spend_days")
    .values({
      user_id: "",
      day: "",
      conversation_id: "",
      cost: 0,
      calls: 0,
      prompt_tokens: 0,
      completion_tokens: 0,
    })
    .onConflict((conflict) =>
      conflict.columns(["user_id", "day", "conversation_id"]).doUpdateSet({
        cost: sql`spend_days.cost + excluded.cost`,
        calls: sql`spend_days.calls + excluded.calls`,
        prompt_tokens: sql`spend_days.prompt_tokens + excluded.prompt_tokens`,
        completion_tokens: sql`spend_days.completion_tokens + excluded.completion_tokens`,
      }),
    )
    .$if(isPostgres(tables), (insert) =>
      insert.returning(sql<string>`pg_current_xact_id()::text`.as("transaction_id")),
    )
    .$castTo<SpendRow>()
    .compile();
}

/** Whether a transaction was committed. Rejects while it is open. */
export async function wasCommitted(tables: Kysely<Tables>, transactionId: string): Promise<boolean> {
  const status = await statusOf(tables, transactionId);
  if (status === "in progress")
    throw new Error("a transaction whose commit was not acknowledged is still open");
  return status === "committed";
}

/** Null when its outcome is no longer known, or not known yet. */
async function statusOf(tables: Kysely<Tables>, transactionId: string): Promise<string | null> {
  try {
    const { rows } = await sql<{ status: string | null }>`
      SELECT pg_xact_status(${transactionId}::text::xid8) AS status`.execute(tables);
    return rows[0]?.status ?? null;
  } catch (error) {
    // A database that was set back has not reached that transaction number again.
    if (isRefused(error) && error.code === inFuture) return null;
    throw error;
  }
}

/** invalid_parameter_value */
const inFuture = "22023";
