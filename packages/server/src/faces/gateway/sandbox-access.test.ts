import { expect, test } from "vitest";
import { MemorySandboxes } from "../../testing/memory-sandboxes.ts";
import { createSandboxAccess, secretsEntering } from "./sandbox-access.ts";

test("a person's commands in a sandbox get those of the stored secrets that its spec lets in, and none that is bound to hosts", async () => {
  const sandboxes = new MemorySandboxes();
  const { id } = await sandboxes.start("ada", "first");
  const [view] = await sandboxes.getMany("ada", [id]);
  const secretsOf = async (secretNames: readonly string[] | undefined) => {
    const open = createSandboxAccess({
      sandboxes: {
        learn: async () => {},
        ownerOf: () => "ada",
        openHost: async () => ({ toolHost: {} as never, workspaceDir: "/workspace", stateDir: "/state" }),
        getMany: async () => [{ ...view!, secretNames }],
      },
      secrets: {
        values: async () => ({
          A: { value: "1" },
          B: { value: "2" },
          C: { value: "3", hosts: ["c.example"] },
        }),
      },
    });
    return await (await open({ userId: "ada" }, { sandbox_id: id })).secrets();
  };
  expect(await secretsOf(["B", "C"])).toEqual([{ name: "B", value: "2" }]);
  expect(await secretsOf([])).toEqual([]);
  expect(await secretsOf(undefined)).toEqual([
    { name: "A", value: "1" },
    { name: "B", value: "2" },
  ]);
});

test("a stored secret that a request names is not there for a sandbox whose spec does not let it in", async () => {
  const sandboxes = new MemorySandboxes();
  const { id } = await sandboxes.start("ada", "first");
  const [view] = await sandboxes.getMany("ada", [id]);
  const secretsOf = (secretNames: readonly string[] | undefined) =>
    secretsEntering(id, {
      sandboxes: {
        learn: async () => {},
        ownerOf: () => "ada",
        openHost: () => Promise.reject(new Error("It is not asked.")),
        getMany: async (userId) => [userId === "ada" ? { ...view!, secretNames } : null],
      },
      secrets: { read: async (_userId, name) => ({ value: `value of ${name}` }) },
    });
  expect(await secretsOf(["A"]).read("ada", "A")).toEqual({ value: "value of A" });
  expect(await secretsOf(["A"]).read("ada", "B")).toBe(null);
  expect(await secretsOf(undefined).read("ada", "B")).toEqual({ value: "value of B" });
  await expect(secretsOf(["A"]).read("bob", "A")).rejects.toMatchObject({ code: "sandbox_not_found" });
});
