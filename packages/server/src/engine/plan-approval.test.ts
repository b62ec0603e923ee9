import { expect, test } from "vitest";
import type { AppendBatch } from "../journal/journal.ts";
import { startTestServer } from "../testing/start-server.ts";

test("P2, F26: an approval that cannot be stored changes nothing, and one that is stored is all of it", async () => {
  const batches: AppendBatch[] = [];
  let isFull = false;
  await using server = await startTestServer({
    script: { turns: [{ text: "The plan." }, { text: "Done." }], select: "in_order" },
    wrapJournal: (journal) =>
      new Proxy(journal, {
        get: (target, name: keyof typeof journal) => {
          const value: unknown = target[name];
          if (typeof value !== "function") return value;
          if (name !== "append") return (value as (...given: unknown[]) => unknown).bind(target);
          return async (...[lease, batch]: Parameters<typeof target.append>) => {
            if (isFull) throw new Error("The disk is full.");
            batches.push(batch);
            await target.append(lease, batch);
          };
        },
      }),
  });
  const { agent } = server.startRequest();
  const id = await server.runTo("finished", "Plan it.", {
    agent: { ...agent, system_prompt_filename: "system_prompt_planning.j2" },
  });
  const approve = async (): Promise<number> =>
    (await server.call("POST", `/api/conversations/${id}/plan/approve`)).status;
  const before = await server.events(id);
  isFull = true;
  expect(await approve()).toBeGreaterThanOrEqual(500);
  isFull = false;
  expect(await server.events(id)).toEqual(before);
  const planning = await server.client.getConversation(id);
  expect(planning.agent).toMatchObject({ system_prompt_filename: "system_prompt_planning.j2" });

  batches.length = 0;
  expect(await approve()).toBe(200);
  // The message, the run and the agent: a crash finds all of them or none.
  const [{ conversation, events }] = batches as [AppendBatch];
  const keys = events.map(({ json, kind }) => (JSON.parse(json) as { key?: string }).key ?? kind);
  expect(keys).toEqual([
    "execution_status",
    "MessageEvent",
    "last_user_message_id",
    "execution_status",
    "agent",
  ]);
  expect(conversation).toMatchObject({
    executionStatus: "running",
    config: expect.stringContaining('"system_prompt.j2"') as string,
  });
  await server.waitForStatus(id, "finished");
});
