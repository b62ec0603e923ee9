import { type ActionRow, hasFailed, isReadOnly, lastWord, type Row, type Turn } from "@convoke/client/view";

/** One item of the timeline. */
export type Item =
  | { readonly type: "row"; readonly key: string; readonly row: Row }
  | { readonly type: "group"; readonly key: string; readonly rows: readonly ActionRow[] }
  | { readonly type: "turn"; readonly key: string; readonly turn: Turn; readonly isOpen: boolean };

/**
 * The items of the timeline: expanded turns with all rows; collapsed ones with their message, errors and last
 * answer.
 */
export function itemsOf(turns: readonly Turn[], isOpen: (turn: Turn) => boolean): readonly Item[] {
  const items: Item[] = [];
  for (const [index, turn] of turns.entries()) {
    if (turn.message !== null) items.push(rowItem(turn.message));
    const isLast = index === turns.length - 1;
    if (isOpen(turn)) {
      pushGrouped(items, turn.rows);
      if (!isLast && turn.message !== null && isWorthFolding(turn))
        items.push({ type: "turn", key: `turn-${turn.key}`, turn, isOpen: true });
      continue;
    }
    if (isWorthFolding(turn)) items.push({ type: "turn", key: `turn-${turn.key}`, turn, isOpen: false });
    const last = lastWord(turn);
    for (const row of turn.rows)
      if (row === last || row.type === "error" || hasFailed(row)) items.push(rowItem(row));
  }
  return items;
}

/** A turn with only an answer has nothing to collapse. */
function isWorthFolding({ rows }: Turn): boolean {
  return rows.some(({ type }) => type === "action") && rows.length > 1;
}

function rowItem(row: Row): Item {
  return { type: "row", key: row.id, row };
}

/** Rows, with consecutive read-only actions grouped. */
function pushGrouped(items: Item[], rows: readonly Row[]): void {
  let reads: ActionRow[] = [];
  const flush = (): void => {
    if (reads.length > 2) items.push({ type: "group", key: `group-${reads[0]!.id}`, rows: reads });
    else for (const row of reads) items.push(rowItem(row));
    reads = [];
  };
  for (const row of rows) {
    if (row.type === "action" && row.thought === "" && row.reasoning === "" && isReadOnly(row)) {
      reads.push(row);
      continue;
    }
    flush();
    items.push(rowItem(row));
  }
  flush();
}
