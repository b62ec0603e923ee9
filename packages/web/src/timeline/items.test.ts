import { expect, test } from "vitest";
import { SampleLog } from "@convoke/client/testing";
import { foldRows, foldTurns, type Turn } from "@convoke/client/view";
import { itemsOf, type Item } from "./items.ts";
import { TurnFolding } from "./turn-folding.ts";

function addRead(log: SampleLog): void {
  const id = log.action("glob", { kind: "GlobAction", pattern: "*" });
  log.result(id, { kind: "GlobObservation", files: [], pattern: "*", search_path: "/", content: [] }, "glob");
}

function sample(): SampleLog {
  const log = new SampleLog();
  log.message("first");
  for (let index = 0; index < 3; index += 1) addRead(log);
  log.command("false", "", 1);
  log.message("It is done.", "agent");
  log.message("second");
  for (let index = 0; index < 3; index += 1) addRead(log);
  log.command("true", "");
  return log;
}

const names = (items: readonly Item[]): string[] =>
  items.map((item) => (item.type === "row" ? item.row.type : item.type));

test("a folded turn shows its message, what went wrong and the last word; looking around is one line", () => {
  const turns = foldTurns(foldRows(sample().events));
  expect(names(itemsOf(turns, ({ key }) => key === turns[1]!.key))).toEqual([
    "message",
    "turn",
    "action",
    "answer",
    "message",
    "group",
    "action",
  ]);
});

test("the newest turn is open, and stays so when another one begins", () => {
  const log = sample();
  const folding = new TurnFolding();
  const openness = (): boolean[] => {
    const turns = foldTurns(foldRows(log.events));
    folding.see(turns);
    return turns.map((turn) => folding.isOpen(turn));
  };
  expect(openness()).toEqual([false, true]);
  log.message("Done too.", "agent");
  log.message("third");
  expect(openness()).toEqual([false, true, true]);
});

test("U9: a turn that is read stays open when its beginning is loaded, and grows only at its top", () => {
  const { events } = sample();
  const folding = new TurnFolding();
  const turnsFrom = (start: number): readonly Turn[] => {
    const turns = foldTurns(foldRows(events.slice(start)));
    folding.see(turns);
    return turns;
  };
  const before = itemsOf(turnsFrom(3), (turn) => folding.isOpen(turn));
  const after = itemsOf(turnsFrom(0), (turn) => folding.isOpen(turn));
  expect(after.length).toBeGreaterThan(before.length);
  expect(names(after)).toEqual([
    "message",
    "group",
    "action",
    "answer",
    "turn",
    "message",
    "group",
    "action",
  ]);
});
