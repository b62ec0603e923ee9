import { expect, test } from "vitest";
import { createBoundedLabel } from "./bounded-label.ts";

test("the first values are told apart, all later ones share a label", () => {
  const label = createBoundedLabel(2);
  expect(["a", "b", "a", "c", "d", "b"].map(label)).toEqual(["a", "b", "a", "other", "other", "b"]);
  expect(createBoundedLabel(2)("x".repeat(121))).toBe("other");
});
