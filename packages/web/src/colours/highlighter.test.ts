import { expect, test } from "vitest";
import { Highlighter, maxCharacters, type Reader } from "./highlighter.ts";
import type { TokenRanges } from "./token-types.ts";

/** A reader and a timer that the test controls. */
class FakeReader {
  readonly requested: string[] = [];
  opened = 0;
  closed = 0;
  answer: (ranges: TokenRanges | null) => void = () => {};
  ring: () => void = () => {};
  readonly highlighter = new Highlighter({
    openReader: (onAnswer): Reader => {
      this.opened += 1;
      this.answer = onAnswer;
      return { ask: (text) => void this.requested.push(text), close: () => void (this.closed += 1) };
    },
    later: (_ms, callback) => {
      this.ring = callback;
      return () => (this.ring = () => {});
    },
  });
}

test("one text is read after the other, and each only once", async () => {
  const fake = new FakeReader();
  const { ask } = fake.highlighter;
  const answers = [ask("a", "ts"), ask("b", "ts"), ask("a", "typescript")];
  expect(fake.requested).toEqual(["a"]);
  fake.answer([0, 1, 1]);
  expect(fake.requested).toEqual(["a", "b"]);
  fake.answer([]);
  expect(await Promise.all(answers)).toEqual([[0, 1, 1], [], [0, 1, 1]]);
  expect(await ask("a", "ts")).toEqual([0, 1, 1]);
  expect(fake).toMatchObject({ requested: ["a", "b"], opened: 1 });
});

test("nothing is loaded for a text that stays plain: unknown, empty, or too long", async () => {
  const fake = new FakeReader();
  const { ask } = fake.highlighter;
  const answers = [ask("a", "prose"), ask("", "ts"), ask("x".repeat(maxCharacters + 1), "ts")];
  expect(await Promise.all(answers)).toEqual([null, null, null]);
  expect(fake.opened).toBe(0);
});

test("a text that takes for ever stays plain and holds up no other", async () => {
  const fake = new FakeReader();
  const { ask } = fake.highlighter;
  const answers = [ask("stuck", "ts"), ask("next", "ts")];
  fake.ring();
  expect(fake).toMatchObject({ requested: ["stuck", "next"], opened: 2, closed: 1 });
  fake.answer([0, 4, 2]);
  expect(await Promise.all(answers)).toEqual([null, [0, 4, 2]]);
  expect(await ask("stuck", "ts")).toBeNull();
  expect(fake.requested).toEqual(["stuck", "next"]);
});

test("where the reader breaks, the text is asked for again when it is shown again", async () => {
  const fake = new FakeReader();
  const { ask } = fake.highlighter;
  const broken = ask("a", "ts");
  fake.answer(null);
  expect(await broken).toBeNull();
  const again = ask("a", "ts");
  fake.answer([0, 1, 3]);
  expect(await again).toEqual([0, 1, 3]);
  expect(fake).toMatchObject({ opened: 2, closed: 1 });
});

test("a text with too many ranges stays plain", async () => {
  const fake = new FakeReader();
  const answer = fake.highlighter.ask("a", "ts");
  fake.answer(Array.from({ length: 90_000 }, () => 1));
  expect(await answer).toBeNull();
});

test("of what was read only the newest is kept", async () => {
  const fake = new FakeReader();
  const { ask } = fake.highlighter;
  for (let index = 0; index < 20; index += 1) {
    const answer = ask(`${index} ${"x".repeat(150_000)}`, "ts");
    fake.answer([]);
    await answer;
  }
  expect(fake.requested.length).toBe(20);
  void ask(fake.requested.at(-1)!, "ts");
  expect(fake.requested.length).toBe(20);
  void ask(fake.requested[0]!, "ts");
  expect(fake.requested.length).toBe(21);
});
