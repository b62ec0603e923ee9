import { expect, test } from "vitest";
import { quoteWord, toCommandLine } from "./quote-word.ts";

test("a shell reads the words of a command line as they were", () => {
  expect(quoteWord("it's")).toBe(String.raw`'it'\''s'`);
  expect(toCommandLine(["git", "log", "--format=%h", "a/b.ts"])).toBe("git log --format=%h a/b.ts");
  expect(toCommandLine(["sh", "-c", "rm a; rm b", ""])).toBe("sh -c 'rm a; rm b' ''");
});
