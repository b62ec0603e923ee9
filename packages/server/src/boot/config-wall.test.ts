import { expect, test } from "vitest";
import { readWallConfig } from "./config-wall.ts";

test("a wall lets agents read from registries unless somebody says otherwise", () => {
  expect(readWallConfig({}, {})).toMatchObject({ kind: "auto", network: "registries" });
  const environment = { CONVOKE_NETWORK: "all" };
  expect(readWallConfig(environment, {}).network).toBe("all");
  expect(readWallConfig(environment, { network: "none" }).network).toBe("none");
});
