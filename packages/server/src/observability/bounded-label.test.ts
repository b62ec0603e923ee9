import { expect, test } from "vitest";
import { createBoundedLabel } from "./bounded-label.ts";

test("the first values get labels of their own, all later ones share one", () => {
  const label = createBoundedLabel(2);
  expect(["a", "b", "a", "c", "d", "b"].map(label)).toEqual(["a", "b", "a", "other", "other", "b"]);
  expect(createBoundedLabel(2)("x".repeat(121))).toBe("other");
});
