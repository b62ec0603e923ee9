import { expect, test } from "vitest";
import { SampleLog } from "@convoke/client/testing";
import { foldRows, foldTurns } from "@convoke/client/view";
import { rowsToKeep } from "./far-rows.ts";
import { itemsOf } from "./items.ts";

/** Three turns of three commands and an answer each; `open` has the numbers of the expanded ones. */
function shownOf(...open: readonly number[]) {
  const log = new SampleLog();
  for (const turn of [0, 1, 2]) {
    log.message(`order ${turn}`);
    for (const command of [1, 2, 3]) log.command(`${turn} ${command}`, "");
    log.message(`answer ${turn}`, "agent");
  }
  const turns = foldTurns(foldRows(log.events));
  const isOpen = (turn: (typeof turns)[number]): boolean => open.includes(turns.indexOf(turn));
  return { items: itemsOf(turns, isOpen), turns, isOpen };
}

test("U8: what is left begins and ends with whole turns, so that none opens or folds by it", () => {
  const shown = shownOf(0, 1, 2);
  const indexOf = (name: string): number =>
    shown.items.findIndex(
      (item) => item.type === "row" && item.row.type === "action" && item.row.action?.["command"] === name,
    );
  expect(rowsToKeep(shown, indexOf("1 2"), indexOf("1 2"))).toEqual({
    first: shown.turns[1]!.message!.id,
    last: shown.turns[1]!.rows.at(-1)!.id,
  });
});

test("U8: an open turn at either end may be cut through, a folded one stays whole", () => {
  const open = shownOf(0, 1, 2);
  const at = (index: number): string => {
    const item = open.items[index]!;
    return item.type === "row" ? item.row.id : "";
  };
  const last = open.items.length - 2;
  expect(rowsToKeep(open, 2, last)).toEqual({ first: at(2), last: at(last) });
  const folded = shownOf(1);
  expect(rowsToKeep(folded, 1, folded.items.length - 1)).toEqual({
    first: folded.turns[0]!.message!.id,
    last: folded.turns[2]!.rows.at(-1)!.id,
  });
});

test("nothing is let go of where nothing is shown", () => {
  expect(rowsToKeep({ items: itemsOf([], () => true), turns: [], isOpen: () => true }, 0, 0)).toBeNull();
});
