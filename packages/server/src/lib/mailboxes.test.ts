import { expect, test } from "vitest";
import { Mailboxes } from "./mailboxes.ts";

test("jobs of one name run one after another, also behind one that fails; those of another name do not wait", async () => {
  const boxes = new Mailboxes();
  const order: string[] = [];
  const release = Promise.withResolvers<void>();
  const first = boxes.post("a", async () => {
    await release.promise;
    order.push("first");
    throw new Error("It failed.");
  });
  const second = boxes.post("a", async () => order.push("second"));
  await boxes.post("b", async () => order.push("other"));
  release.resolve();
  await expect(first).rejects.toThrow("It failed.");
  await second;
  await boxes.post("a", async () => order.push("third"));
  expect(order).toEqual(["other", "first", "second", "third"]);
});
