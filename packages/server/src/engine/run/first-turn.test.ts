import { expect, test } from "vitest";
import type { AppendBatch } from "../../journal/journal.ts";
import { withMethods } from "../../testing/with-methods.ts";
import { startTestServer } from "../../testing/start-server.ts";

/** The kinds of each commit; a state update by its key and value. */
function shown({ events }: AppendBatch): string[] {
  return events.map(({ kind, json }) => {
    const { key, value } = JSON.parse(json) as { key?: string; value?: unknown };
    return typeof value === "string" ? `${key}: ${value}` : (key ?? kind);
  });
}

test("an answer after which nothing is left to do ends its run in its own commit", async () => {
  const batches: AppendBatch[] = [];
  await using server = await startTestServer({
    script: {
      turns: [{ tool_calls: [{ name: "terminal", arguments: { command: "ls" } }] }, { text: "Done." }],
      select: "in_order",
    },
    wrapJournal: (journal) =>
      withMethods(journal, {
        append: async (lease, batch) => {
          batches.push(batch);
          await journal.append(lease, batch);
        },
      }),
  });
  await server.runTo("finished", "Look, then say so.");
  const ends = batches.map(shown).filter((commit) => commit.includes("execution_status: finished"));
  expect(ends.map((commit) => [commit[0], commit.at(-1)])).toEqual([
    ["MessageEvent", "execution_status: finished"],
  ]);
  expect(batches.at(-1)?.conversation).toMatchObject({ executionStatus: "finished", isActive: false });
});

test("the model of a conversation is opened once for all its calls", async () => {
  const opened: string[] = [];
  const asked: string[] = [];
  await using server = await startTestServer({
    script: { turns: [{ text: "Yes." }], loop: true },
    wrapModel: (model) => {
      const number = String(opened.push(model.name));
      return withMethods(model, {
        stream: (request, signal) => {
          asked.push(number);
          return model.stream(request, signal);
        },
      });
    },
  });
  const id = await server.runTo("finished", "Once.");
  await server.call("POST", `/api/conversations/${id}/events`, {
    role: "user",
    content: [{ type: "text", text: "Twice." }],
    run: true,
  });
  await expect.poll(() => asked.length).toBe(2);
  await server.waitForStatus(id, "finished");
  expect(new Set(asked).size).toBe(1);
});
