import { ApiError } from "@convoke/client";
import { expect, test } from "vitest";
import { readTasks } from "./read-tasks.ts";

const orders = (...ids: readonly string[]) =>
  ids.map((id) => `{"key":"task","value":{"task_id":"${id}"}}\n`).join("");

/** A server that has these logs and no others. */
function clientOf(logs: Readonly<Record<string, string>>) {
  const find = (id: string): string => {
    const log = logs[id];
    if (log === undefined) throw new ApiError(404, "gone", null, []);
    return log;
  };
  return {
    getConversation: async (id: string) => ({ id, length: find(id).length }),
    open: async (_route: string, { params }: { params: { conversation_id: string } }) =>
      new Response(find(params.conversation_id)),
  } as unknown as Parameters<typeof readTasks>[0];
}

const requestFor = (maxBytes: number, ...ids: readonly string[]) => ({
  id: "main",
  log: { taskIds: new Set(ids) },
  maxBytes,
});

test("the tasks of a log come with theirs, each once and in their order; what is gone is passed over", async () => {
  const client = clientOf({ a: orders("c", "main"), b: '{"id":"1"}\n', c: orders("a", "b") });
  const { tasks, tasksLeft, lines } = await readTasks(client, requestFor(10_000, "a", "gone", "b"));
  expect(tasks.map(({ conversation, events }) => [conversation["id"], events])).toEqual([
    ["a", 2],
    ["b", 1],
    ["c", 2],
  ]);
  expect(tasksLeft).toBe(0);
  expect((await lines.text()).trim().split("\n")).toHaveLength(5);
});

test("the first task that makes the file too large ends it, and how many are left out is told", async () => {
  const client = clientOf({ a: "{}\n", b: `{"text":"${"x".repeat(200)}"}\n`, c: "{}\n" });
  const { tasks, tasksLeft, lines } = await readTasks(client, requestFor(100, "a", "b", "c"));
  expect(tasks.map(({ conversation }) => conversation["id"])).toEqual(["a"]);
  expect(tasksLeft).toBe(2);
  expect(await lines.text()).toBe("{}\n");
});
