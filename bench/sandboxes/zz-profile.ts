import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { findToolHostProgram } from "../../packages/cli/src/find-tool-host-program.ts";
import { measureWalls } from "./walls.ts";
const program = findToolHostProgram(resolve("node_modules/.cache/wall-build/lib/cli-sandbox-host.js"));
const folder = mkdtempSync(join(tmpdir(), "convoke-bench-"));
for (let i = 0; i < 3; i += 1) {
  console.log("registries", await measureWalls(program, join(folder, "w" + i), "registries"));
  console.log("none", await measureWalls(program, join(folder, "n" + i), "none"));
}
rmSync(folder, { recursive: true, force: true });
