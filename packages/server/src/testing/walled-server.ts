import { readWallConfig } from "../boot/config-wall.ts";
import { openWalls } from "../boot/open-walls.ts";
import type { Outside } from "../walls/walls-deps.ts";
import type { TestServerOptions } from "./start-server.ts";
import { testedPrograms } from "./tested-programs.ts";

/** Options of a test server whose conversations have walls of bubblewrap. `outside`: how hosts are reached; as this machine does unless given. */
export function withWalls(outside?: Outside): Pick<TestServerOptions, "config" | "openWalls"> {
  const { toolHost: program } = testedPrograms();
  return {
    openWalls: (shared) => openWalls({ ...shared, program, environment: process.env, outside }),
    config: { wall: readWallConfig({}, { wall: "bubblewrap", network: "registries" }) },
  };
}
