import { expect, test } from "vitest";
import { SharedRound } from "./shared-round.ts";

test("callers during a round share the next one, and a failed round rejects its own callers", async () => {
  const rounds: PromiseWithResolvers<void>[] = [];
  const shared = new SharedRound(async () => {
    const round = Promise.withResolvers<void>();
    rounds.push(round);
    await round.promise;
  });
  const first = shared.ask();
  const [second, third] = [shared.ask(), shared.ask()];
  expect(rounds).toHaveLength(1);
  rounds[0]!.reject(new Error("no disk"));
  await expect(first).rejects.toThrow("no disk");
  await expect.poll(() => rounds.length).toBe(2);
  const fourth = shared.ask();
  rounds[1]!.resolve();
  await Promise.all([second, third]);
  await expect.poll(() => rounds.length).toBe(3);
  rounds[2]!.resolve();
  await fourth;
  expect(rounds).toHaveLength(3);
});
