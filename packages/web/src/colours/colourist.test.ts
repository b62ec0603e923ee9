import { expect, test } from "vitest";
import { Colourist, maxCharacters, type Reader } from "./colourist.ts";
import type { TokenRanges } from "./token-types.ts";

/** A reader that answers when it is told to, and a clock that rings when it is told to. */
class World {
  readonly asked: string[] = [];
  opened = 0;
  closed = 0;
  answer: (ranges: TokenRanges | null) => void = () => {};
  ring: () => void = () => {};
  readonly colourist = new Colourist({
    openReader: (onAnswer): Reader => {
      this.opened += 1;
      this.answer = onAnswer;
      return { ask: (text) => void this.asked.push(text), close: () => void (this.closed += 1) };
    },
    later: (_ms, callback) => {
      this.ring = callback;
      return () => (this.ring = () => {});
    },
  });
}

test("one text is read after the other, and each only once", async () => {
  const world = new World();
  const { ask } = world.colourist;
  const answers = [ask("a", "ts"), ask("b", "ts"), ask("a", "typescript")];
  expect(world.asked).toEqual(["a"]);
  world.answer([0, 1, 1]);
  expect(world.asked).toEqual(["a", "b"]);
  world.answer([]);
  expect(await Promise.all(answers)).toEqual([[0, 1, 1], [], [0, 1, 1]]);
  expect(await ask("a", "ts")).toEqual([0, 1, 1]);
  expect(world).toMatchObject({ asked: ["a", "b"], opened: 1 });
});

test("nothing is loaded for a text that stays plain: unknown, empty, or too long", async () => {
  const world = new World();
  const { ask } = world.colourist;
  const answers = [ask("a", "prose"), ask("", "ts"), ask("x".repeat(maxCharacters + 1), "ts")];
  expect(await Promise.all(answers)).toEqual([null, null, null]);
  expect(world.opened).toBe(0);
});

test("a text that takes for ever stays plain and holds up no other", async () => {
  const world = new World();
  const { ask } = world.colourist;
  const answers = [ask("stuck", "ts"), ask("next", "ts")];
  world.ring();
  expect(world).toMatchObject({ asked: ["stuck", "next"], opened: 2, closed: 1 });
  world.answer([0, 4, 2]);
  expect(await Promise.all(answers)).toEqual([null, [0, 4, 2]]);
  expect(await ask("stuck", "ts")).toBeNull();
  expect(world.asked).toEqual(["stuck", "next"]);
});

test("where the reader breaks, the text is asked for again when it is shown again", async () => {
  const world = new World();
  const { ask } = world.colourist;
  const broken = ask("a", "ts");
  world.answer(null);
  expect(await broken).toBeNull();
  const again = ask("a", "ts");
  world.answer([0, 1, 3]);
  expect(await again).toEqual([0, 1, 3]);
  expect(world).toMatchObject({ opened: 2, closed: 1 });
});

test("a text with too many ranges stays plain", async () => {
  const world = new World();
  const answer = world.colourist.ask("a", "ts");
  world.answer(Array.from({ length: 90_000 }, () => 1));
  expect(await answer).toBeNull();
});

test("of what was read only the newest is kept", async () => {
  const world = new World();
  const { ask } = world.colourist;
  for (let index = 0; index < 20; index += 1) {
    const answer = ask(`${index} ${"x".repeat(150_000)}`, "ts");
    world.answer([]);
    await answer;
  }
  expect(world.asked.length).toBe(20);
  void ask(world.asked.at(-1)!, "ts");
  expect(world.asked.length).toBe(20);
  void ask(world.asked[0]!, "ts");
  expect(world.asked.length).toBe(21);
});
