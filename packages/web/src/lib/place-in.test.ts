import { expect, test } from "vitest";
import { placeIn } from "./place-in.ts";

test("what stands beside a conversation changes, and its place stays", () => {
  expect(placeIn("c", "?event=e&q=a+b", { panel: "files", path: "a/b c" })).toBe(
    "/c/c?event=e&q=a+b&panel=files&path=a%2Fb+c",
  );
  expect(placeIn("c", "event=e&panel=files&path=a", { panel: null, path: null })).toBe("/c/c?event=e");
  expect(placeIn("c", "panel=outline", { panel: null })).toBe("/c/c");
});
