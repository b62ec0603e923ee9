import { expect, test } from "vitest";
import { conversationAddress } from "./conversation-address.ts";

test("what stands beside a conversation changes, and its place stays", () => {
  expect(conversationAddress("c", "?event=e&q=a+b", { panel: "files", path: "a/b c" })).toBe(
    "/c/c?event=e&q=a+b&panel=files&path=a%2Fb+c",
  );
  expect(conversationAddress("c", "event=e&panel=files&path=a", { panel: null, path: null })).toBe(
    "/c/c?event=e",
  );
  expect(conversationAddress("c", "panel=outline", { panel: null })).toBe("/c/c");
});
