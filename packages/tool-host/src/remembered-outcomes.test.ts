import { expect, test } from "vitest";
import type { Outcome } from "./host.ts";
import { RememberedOutcomes } from "./remembered-outcomes.ts";

test("issue 13: outcomes in memory have a bound in characters beside the one in number; the newest stays", () => {
  const remembered = new RememberedOutcomes({ outcomes: 3, characters: 1_000 });
  const left = (): string[] => ["a", "b", "c", "d", "e"].filter((id) => remembered.get(id) !== undefined);
  remembered.add("a", outcomeOf(100));
  remembered.add("b", outcomeOf(100));
  remembered.add("c", outcomeOf(100));
  expect(left()).toEqual(["a", "b", "c"]);
  remembered.add("d", outcomeOf(100));
  expect(left()).toEqual(["b", "c", "d"]);
  remembered.add("e", outcomeOf(850));
  expect(left()).toEqual(["d", "e"]);
  remembered.add("a", outcomeOf(5_000));
  expect(left()).toEqual(["a"]);
  remembered.add("a", outcomeOf(10));
  remembered.add("b", outcomeOf(800));
  expect(left()).toEqual(["a", "b"]);
});

/** Five characters more, for its type. */
function outcomeOf(characters: number): Outcome {
  return { type: "error", text: "x".repeat(characters) };
}
