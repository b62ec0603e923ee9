import { expect, test } from "vitest";
import { readLog } from "./read-log.ts";

const task = (id: string) => ({ kind: "ConversationStateUpdateEvent", key: "task", value: { task_id: id } });
const events = [
  { kind: "MessageEvent", text: '<script> and "task_id":"no"' },
  task("a"),
  { kind: "ObservationEvent", observation: { kind: "TaskObservation", task_id: "b" } },
  { kind: "ObservationEvent", observation: { kind: "OtherObservation", task_id: "c" } },
  task("a"),
];
const text = events.map((event) => `${JSON.stringify(event)}\n`).join("");

/** In pieces that end anywhere. */
function replyOf(size: number): Response {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
  return new Response(body);
}

test.each([1, 7, 10_000])(
  "a log in pieces of %i bytes comes whole, ends no element and names its tasks",
  async (size) => {
    const log = await readLog(replyOf(size), 10_000);
    expect(log?.events).toBe(events.length);
    expect([...log!.taskIds]).toEqual(["a", "b"]);
    const lines = await log!.lines.text();
    expect(lines).not.toContain("<");
    expect(
      lines
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(events);
  },
);

test("a log that is too long is given up", async () => {
  expect(await readLog(replyOf(10), 100)).toBeNull();
});
