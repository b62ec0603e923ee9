import { randomUUID } from "node:crypto";
import type { RetentionPlan } from "@convoke/protocol";
import { expect, test } from "vitest";
import type { Journal } from "../../journal/journal.ts";
import { MemorySandboxes } from "../../testing/memory-sandboxes.ts";
import { startTestServer } from "../../testing/start-server.ts";

test("Retention, trash and hold of conversations in sandboxes: refused by name, a hold keeps the conversation and its sandbox", async () => {
  let journal: Journal | null = null;
  const sandboxes = new MemorySandboxes();
  await using server = await startTestServer({
    script: { turns: [{ text: "Hello." }] },
    openSandboxes: async () => sandboxes,
    wrapJournal: (opened) => (journal = opened),
  });
  const plain = await server.runTo("finished", "hi");
  const row = (await journal!.getConversation(plain))!;
  const { id: sandboxId } = await sandboxes.start(row.ownerId, "first");
  const id = randomUUID();
  const appFacts = JSON.stringify({ parent_id: null });
  await journal!.createConversation({ ...row, id, sandboxId, appFacts });
  const ask = async (method: string, path: string, body?: object): Promise<readonly [number, string]> => {
    const { status, text } = await server.call(method, path, body);
    return [status, text];
  };

  const trashed = await ask("POST", `/api/conversations/${id}/trash`);
  expect(trashed).toEqual([409, expect.stringContaining("conversation_in_sandbox")]);
  const policy = {
    rules: [
      { name: "all", tag: { key: "state", value: "draft" } },
      { name: "old", idle_days: 1 },
    ],
  };
  expect((await ask("PUT", "/api/retention", policy))[0]).toBe(200);
  const plan = (await server.call("GET", "/api/retention/plan")).json as RetentionPlan;
  expect(
    plan.matches.filter((match) => match.conversation_id === id && match.stays_because === null),
  ).toEqual([]);

  expect((await ask("PUT", `/api/conversations/${id}/hold`, { reason: "for the audit" }))[0]).toBe(200);
  for (const path of [`/api/v1/app-conversations/${id}`, `/api/conversations/${id}`])
    expect(await ask("DELETE", path), path).toEqual([409, expect.stringContaining("for the audit")]);
  await server.restart();
  // Nothing of it has gone, and no deletion goes on after a start.
  expect(await sandboxes.getMany(row.ownerId, [sandboxId])).toEqual([
    expect.objectContaining({ id: sandboxId }),
  ]);
  const [shown] = (await server.call("GET", `/api/v1/app-conversations?ids=${id}`)).json as {
    sandbox_id: string;
  }[];
  expect(shown).toMatchObject({ sandbox_id: sandboxId });
  expect((await ask("DELETE", `/api/conversations/${id}/hold`))[0]).toBe(200);
  // Sandboxes in memory have no inside whose work could be stopped.
  expect((await ask("DELETE", `/api/v1/app-conversations/${id}`))[0]).not.toBe(409);
  expect(await sandboxes.getMany(row.ownerId, [sandboxId])).toEqual([null]);
});
