import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { openApplicationDatabase } from "../database/sqlite-application-database.ts";
import { createSecretBox } from "../security/seal.ts";
import type { StartOrder } from "./start-order.ts";
import { StartTaskStore, type StartTask } from "./start-task-store.ts";

test("P22: a deletion that has begun is found by the next process until nothing is left of its conversation", async () => {
  await using folder = await openTemporaryDirectory();
  let nowMs = 1;
  const openStore = async () => {
    const database = await openApplicationDatabase(folder.path);
    const secretBox = createSecretBox(Buffer.alloc(32));
    const store = new StartTaskStore({
      database,
      secretBox,
      cluster: { nodeId: "node" },
      clock: { nowMs: () => nowMs++ },
    });
    return { store, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
  };
  const draft = (ownerId: string, conversationId: string, sandboxId: string) => ({
    ownerId,
    conversationId,
    sandboxId,
    request: {} as StartTask["request"],
  });
  {
    await using first = await openStore();
    const { store } = first;
    // One that failed, of another user who wanted the same id.
    const failed = await store.insert(draft("bob", "one", "bob's box"), {} as StartOrder);
    await store.update(failed.task.id, { status: "ERROR", detail: null });
    await store.insert(draft("ada", "one", "box"), {} as StartOrder);
    const other = await store.insert(draft("ada", "two", "box"), {} as StartOrder);
    expect(await store.started("ada", "two")).toBe(null);
    await store.update(other.task.id, { status: "READY", detail: null });
    expect(await store.started("ada", "two")).toEqual({ id: "two", ownerId: "ada", sandboxId: "box" });
    await store.markLeaving("ada", ["one"]);
  }
  await using second = await openStore();
  const leaving = { id: "one", ownerId: "ada", sandboxId: "box" };
  expect(await second.store.listLeaving()).toEqual([leaving]);
  expect(await second.store.started("ada", "one")).toEqual(leaving);
  expect(await second.store.started("bob", "one")).toBe(null);
  await second.store.removeOf("one");
  expect(await second.store.listLeaving()).toEqual([]);
});
