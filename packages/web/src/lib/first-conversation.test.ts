import { expect, test } from "vitest";
import { firstConversation } from "./first-conversation.ts";

const read = (address: string, prefix: string): string | null =>
  firstConversation(new URL(address, "http://127.0.0.1"), prefix);

test("names the conversation whose end is shown", () => {
  expect(read("/c/abc", "")).toBe("abc");
  expect(read("/convoke/c/abc?panel=files", "/convoke")).toBe("abc");
});

test("names none where another place of it, or another screen, is shown", () => {
  for (const address of ["/", "/settings", "/c/abc?event=1", "/c/abc?at=", "/c/abc/more"])
    expect(read(address, "")).toBeNull();
});
