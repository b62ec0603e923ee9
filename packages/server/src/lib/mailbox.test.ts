import { expect, test } from "vitest";
import { Mailbox } from "./mailbox.ts";

test("jobs run in order and never overlap", async () => {
  const mailbox = new Mailbox();
  const log: string[] = [];
  const job = (name: string) => async () => {
    log.push(`${name} starts`);
    await Promise.resolve();
    log.push(`${name} ends`);
  };
  await Promise.all([mailbox.post(job("a")), mailbox.post(job("b"))]);
  expect(log).toEqual(["a starts", "a ends", "b starts", "b ends"]);
});

test("a failing job fails its own promise and not the next job", async () => {
  const mailbox = new Mailbox();
  const failed = mailbox.post(() => Promise.reject(new Error("no")));
  const next = mailbox.post(() => "yes");
  await expect(failed).rejects.toThrow("no");
  expect(await next).toBe("yes");
});
