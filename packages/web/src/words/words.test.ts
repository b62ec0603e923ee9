import { expect, test } from "vitest";
import { laterWords, readWords } from "./read-words.ts";

test("words that come later are read once, in the language of the page", async () => {
  const read = laterWords("de-AT", (load) => load());
  expect(read()).toBe(read());
  expect((await read()).keys.title).toBe("Tastenkürzel");
  expect((await readWords("de")).status.working).not.toBe((await readWords("fr")).status.working);
  expect((await laterWords("fr", (load) => load())()).keys.title).toBe("Keyboard shortcuts");
});
