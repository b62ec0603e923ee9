import type { VirtualizerHandle } from "virtua";
import type { Turn } from "@convoke/client/view";
import type { OpenLog } from "../log/open-log.ts";
import type { Item } from "./items.ts";

/** Rows within this distance of the screen stay, in pixels; more than the distance at which older rows are loaded. */
const near = 8_000;

type Shown = {
  readonly items: readonly Item[];
  readonly turns: readonly Turn[];
  readonly isOpen: (turn: Turn) => boolean;
};

/**
 * Evicts rows that are far from the screen if there are too many. At the top only after scrolling has ended: during
 * a scroll the list does not know its final offset and would compensate twice, and rows measured below would move
 * the visible ones.
 */
export function evictFarRows(log: OpenLog, list: VirtualizerHandle, shown: Shown, isStill: boolean): void {
  const from = list.findItemIndex(Math.max(0, list.scrollOffset - near));
  const to = list.findItemIndex(list.scrollOffset + list.viewportSize + near);
  const remaining = rowsToKeep(shown, isStill ? from : 0, to);
  if (remaining !== null) log.evictOutside(remaining.first, remaining.last);
}

/**
 * The range of rows to keep so that the items `from` to `to` stay. Only an expanded outermost turn is cut: the rest
 * of a cut turn is rendered row by row, and a collapsed one would expand.
 */
export function rowsToKeep(
  { items, turns, isOpen }: Shown,
  from: number,
  to: number,
): { readonly first: string; readonly last: string } | null {
  const first = rowsOf(items[from])?.[0];
  const last = rowsOf(items[Math.min(to, items.length - 1)])?.[1];
  if (first === undefined || last === undefined) return null;
  const top = turns.findIndex((turn) => hasRow(turn, first));
  const bottom = turns.findIndex((turn) => hasRow(turn, last));
  if (top < 0 || bottom < 0) return null;
  const isTopCut = top === 0 && isOpen(turns[top]!);
  const isBottomCut = bottom === turns.length - 1 && isOpen(turns[bottom]!);
  return {
    first: isTopCut ? first : (turns[top]!.message?.id ?? turns[top]!.rows[0]!.id),
    last: isBottomCut ? last : (turns[bottom]!.rows.at(-1)?.id ?? turns[bottom]!.message!.id),
  };
}

/** The first and last row of an item. */
function rowsOf(item: Item | undefined): readonly [string, string] | undefined {
  switch (item?.type) {
    case "row":
      return [item.row.id, item.row.id];
    case "group":
      return [item.rows[0]!.id, item.rows.at(-1)!.id];
    case "turn":
      return [item.turn.rows[0]!.id, item.turn.rows.at(-1)!.id];
    case undefined:
      return undefined;
  }
}

function hasRow({ message, rows }: Turn, id: string): boolean {
  return message?.id === id || rows.some((row) => row.id === id);
}
