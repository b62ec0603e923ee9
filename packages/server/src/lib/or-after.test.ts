import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { orAfter } from "./or-after.ts";

test("resolves with the task, or with the other value when the task takes longer", async () => {
  expect(await orAfter(Promise.resolve("done"), 10_000, "late")).toBe("done");
  expect(await orAfter(sleep(10_000, "done", { ref: false }), 1, "late")).toBe("late");
});

test("rejects with the task, and not with one that fails later", async () => {
  await expect(orAfter(Promise.reject(new Error("broken")), 10_000, "late")).rejects.toThrow("broken");
  const failing = sleep(5).then(() => {
    throw new Error("broken");
  });
  expect(await orAfter(failing, 1, "late")).toBe("late");
  await expect(failing).rejects.toThrow("broken");
});
