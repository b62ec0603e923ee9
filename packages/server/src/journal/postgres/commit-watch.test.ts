import type { Pool } from "pg";
import { expect, test } from "vitest";
import { Doorbell } from "../doorbell.ts";
import { CommitWatch } from "./commit-watch.ts";

test("who begin to listen at once are looked for together, and each is rung for what its log has", async () => {
  const doorbell = new Doorbell();
  const ids = Array.from({ length: 200 }, (_, index) => `conversation ${index}`);
  const asked: string[][] = [];
  const query = async (_text: string, [wanted]: [string[]]) => {
    asked.push(wanted);
    return { rows: wanted.map((id) => ({ id, number: ids.indexOf(id) + 1, last_seq: 3 })) };
  };
  await using bell = new CommitWatch({
    listenUrl: null,
    pool: { query } as unknown as Pool,
    doorbell,
    heartbeat: { nodeId: "node", hasOtherNodes: false },
    appends: { isUnderWay: () => false },
    tails: { forget: () => {} },
    onFailure: (error) => expect.unreachable(String(error)),
  });
  const rung = new Set<string>();
  const listen = (id: string): void => {
    doorbell.listen(id, () => rung.add(id));
    bell.watch(id);
  };
  const [first, ...others] = ids;
  listen(first!);
  await expect.poll(() => asked.length).toBe(1);
  for (const id of others) listen(id);
  await expect.poll(() => rung.size).toBe(ids.length);
  expect(asked.length).toBeLessThan(5);
});
