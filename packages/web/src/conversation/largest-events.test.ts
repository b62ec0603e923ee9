import { expect, test } from "vitest";
import { largestEvents } from "./largest-events.ts";
import type { ShownMessage } from "./shown-message.ts";

const message = (tokens: number, ...eventIds: readonly string[]): ShownMessage => ({
  role: "tool",
  text: "",
  tool: "terminal",
  pictures: 0,
  tokens,
  eventIds,
});

test("the largest events of a request come first, ten at most; what several made is nobody's", () => {
  const found = largestEvents([
    message(5, "a"),
    message(900),
    message(800, "b", "c"),
    message(7, "d"),
    message(0, "e"),
  ]);
  expect(found.map(({ eventId, tokens }) => [eventId, tokens])).toEqual([
    ["d", 7],
    ["a", 5],
  ]);
  const many = Array.from({ length: 12 }, (_, index) => message(index + 1, String(index)));
  expect(largestEvents(many).map(({ tokens }) => tokens)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
});
