import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { silentLogger } from "../lib/logger.ts";
import type { Policy } from "../settings/policy-store.ts";
import { openTestDatabase } from "../testing/test-database.ts";
import { WallHolds } from "./wall-holds.ts";

test("walls of all living nodes count together, those of dead ones do not", async () => {
  await using folder = await openTemporaryDirectory();
  await using database = await openTestDatabase(folder.path);
  const living = new Set(["here", "there"]);
  const policy: Policy = { running_walls: 2 };
  let nowMs = 1_000_000;
  const holdsOf = (nodeId: string): WallHolds => {
    const node = { address: null, release: null, startedAtMs: null };
    const nodes = async () => [...living].map((id) => ({ ...node, id }));
    const policies = { of: (userId: string) => (userId === "ada" ? policy : {}) };
    return new WallHolds({
      database,
      cluster: { nodeId, nodes, nowMs: () => nowMs },
      policies,
      logger: silentLogger,
    });
  };
  const [here, there] = [holdsOf("here"), holdsOf("there")];
  const isHeld = (taken: Awaited<ReturnType<WallHolds["take"]>>): boolean =>
    taken !== null && "release" in taken;
  const first = await here.take("ada");
  expect(isHeld(first)).toBe(true);
  expect(isHeld(await there.take("ada"))).toBe(true);
  expect(await here.take("ada")).toEqual({ name: "running_walls", used: 2, max: 2 });
  // Nobody limits bob.
  expect(here.take("bob")).toBe(null);
  if (first !== null && "release" in first) first.release();
  await expect.poll(() => there.count("ada")).toBe(1);
  living.delete("there");
  nowMs += 60_000;
  expect(await here.count("ada")).toBe(0);
  expect(isHeld(await here.take("ada"))).toBe(true);
  expect(await here.count("ada")).toBe(1);
});
