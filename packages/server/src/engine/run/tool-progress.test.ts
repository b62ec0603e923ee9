import { expect, test } from "vitest";
import { Signals } from "../signals.ts";
import { progressOf } from "./tool-progress.ts";

const key = "sk-canary-0123456789-abcdefghij";

function shownOf(whole: string): string {
  const signals = new Signals();
  const shown: { text: string }[] = [];
  signals.subscribe({
    onSignal: () => {},
    onProgress: (json) => shown.push(JSON.parse(json) as { text: string }),
  });
  const log = { mask: (json: string) => json };
  const configuration = { secrets: { llm: { api_key: key }, sources: {} } };
  progressOf({ configuration, log, signals }, "a")(whole);
  return shown[0]!.text;
}

test("P13: no rest of a secret stands where the text was cut", () => {
  const shown = shownOf(`${key}${" ".repeat(4_096 - 20)}`);
  expect(shown).not.toContain("abcdefghij");
  expect(shown).toHaveLength(4_096 - 20 + "<secret-hidden>".length);
});

test("P13: no beginning of a secret stands at the end", () => {
  expect(shownOf(`the key is ${key.slice(0, 20)}`)).toBe("the key is <secret-hidden>");
});

test("the end of a long text is shown", () => {
  expect(shownOf(`${"a".repeat(5_000)}end`)).toBe(`${"a".repeat(4_093)}end`);
});
