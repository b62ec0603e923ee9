import { ApiError } from "@convoke/client";
import { expect, test } from "vitest";
import { BrowserStorage } from "../lib/browser-storage.ts";
import { Outbox, type Outgoing } from "./outbox.ts";

/** Browser storage, a server that the test controls, and a manual clock. */
function setUp(answers: (Error | null)[] = []) {
  const stored = new Map<string, string>();
  const storage = new BrowserStorage({
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => void stored.set(key, value),
    removeItem: (key) => void stored.delete(key),
  });
  const sent: string[] = [];
  let wake: () => void = () => {};
  const open = () =>
    new Outbox({
      storage,
      send: async ({ id }) => {
        sent.push(id);
        const answer = answers.shift() ?? null;
        if (answer !== null) throw answer;
        return `event-${id}`;
      },
      later: (_, callback) => {
        wake = callback;
        return () => (wake = () => {});
      },
    });
  return { open, sent, stored, wake: () => wake() };
}

const message = (id: string): Omit<Outgoing, "state" | "problem" | "eventId"> => ({
  id,
  conversationId: "c",
  text: id,
  images: [],
});

test("U16: a message that could not be sent is sent again with the same id, and those behind it wait for it", async () => {
  const { open, sent, wake } = setUp([new TypeError("no network"), new ApiError(503, "closing", null, [])]);
  const outbox = open();
  outbox.add(message("one"));
  outbox.add(message("two"));
  await expect.poll(() => sent).toEqual(["one"]);
  wake();
  await expect.poll(() => sent).toEqual(["one", "one"]);
  wake();
  await expect.poll(() => sent).toEqual(["one", "one", "one", "two"]);
  expect(outbox.snapshot().map(({ id, state }) => [id, state])).toEqual([
    ["one", "sent"],
    ["two", "sent"],
  ]);
  outbox.remove("one");
  outbox.remove("two");
  expect(outbox.snapshot()).toEqual([]);
});

test("U16: what the page had when it was closed is sent by the next one", async () => {
  const { open, sent } = setUp([new TypeError("no network")]);
  open().add(message("one"));
  await expect.poll(() => sent).toEqual(["one"]);
  const next = open();
  await next.flush();
  expect(sent).toEqual(["one", "one"]);
});

test("U16: what was sent and not seen in the log is sent again by the next page, and counts once for the server", async () => {
  const { open, sent, stored } = setUp();
  const first = open();
  first.add(message("one"));
  await expect.poll(() => first.snapshot()[0]?.state).toBe("sent");
  await open().flush();
  expect(sent).toEqual(["one", "one"]);
  expect(stored.size).toBe(1);
});

test("a refused message stays with the server's sentence and holds up no other", async () => {
  const { open } = setUp([new ApiError(413, "It is too large.", null, [])]);
  const outbox = open();
  outbox.add(message("one"));
  outbox.add(message("two"));
  await expect
    .poll(() => outbox.snapshot().map(({ state, problem }) => [state, problem]))
    .toEqual([
      ["refused", "It is too large."],
      ["sent", null],
    ]);
});
