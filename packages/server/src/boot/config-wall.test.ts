import { expect, test } from "vitest";
import { readWallConfig } from "./config-wall.ts";

test("a wall lets agents read from registries unless somebody says otherwise", () => {
  expect(readWallConfig({}, {})).toMatchObject({ kind: "auto", network: "registries" });
  const environment = { CONVOKE_NETWORK: "all" };
  expect(readWallConfig(environment, {}).network).toBe("all");
  expect(readWallConfig(environment, { network: "none" }).network).toBe("none");
});

test("what walls may use is read from the environment, and what is no number is refused", () => {
  expect(readWallConfig({}, {})).toMatchObject({
    limits: { memoryMb: null, cpus: null, pids: 8_192 },
    homes: { maxMb: 4_096, maxUnusedDays: 30 },
    maxRunning: null,
  });
  const environment = {
    CONVOKE_WALL_MEMORY_MB: "2048",
    CONVOKE_WALL_CPUS: "1.5",
    CONVOKE_WALL_PIDS: "100",
    CONVOKE_MAX_WALLS: "3",
  };
  expect(readWallConfig(environment, {})).toMatchObject({
    limits: { memoryMb: 2_048, cpus: 1.5, pids: 100 },
    maxRunning: 3,
  });
  expect(() => readWallConfig({ CONVOKE_WALL_MEMORY_MB: "much" }, {})).toThrow(
    "CONVOKE_WALL_MEMORY_MB must be",
  );
});
