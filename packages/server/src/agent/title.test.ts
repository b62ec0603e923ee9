import { expect, test } from "vitest";
import type { Model } from "../models/model.ts";
import { writeTitle } from "./title.ts";

/** A model that only ever says one thing, or that it cannot. */
function saying(words: string | null): Model {
  return {
    stream: async function* () {
      if (words === null) yield { type: "failed", error: { detail: "no" } };
      else yield { type: "done", response: { message: { content: [{ type: "text", text: words }] } } };
    },
  } as unknown as Model;
}

test.each<[string, string | null, string, string]>([
  ["what a model says", '**"Fix the build."**', "x", "Fix the build"],
  ["security 20: blanks inside what a model says", `Fix${" ".repeat(2_000_000)}it`, "x", "Fix"],
  ["security 20: blanks around what a model says", `${" ".repeat(2_000_000)}Fix it`, "x", "Fix it"],
  ["security 20: blanks in a message", null, `Fix${" \n".repeat(1_000_000)}it`, "Fix"],
])("%s becomes a title in no time", async (_, words, message, expected) => {
  const before = process.threadCpuUsage();
  const written = await writeTitle(message, saying(words), new AbortController().signal);
  expect(written?.title).toBe(expected);
  expect(process.threadCpuUsage(before).user).toBeLessThan(1_000_000);
});
