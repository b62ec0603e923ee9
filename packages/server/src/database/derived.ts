import type { LiveRows } from "./application-database.ts";

/** What `derive` makes of live rows; it is asked again when they have changed. */
export function derived<Row, Value>(
  rows: Pick<LiveRows<Row>, "now">,
  derive: (rows: readonly Row[]) => Value,
): () => Value {
  let last: { readonly rows: readonly Row[]; readonly value: Value } | null = null;
  return () => {
    const now = rows.now();
    if (last?.rows !== now) last = { rows: now, value: derive(now) };
    return last.value;
  };
}
