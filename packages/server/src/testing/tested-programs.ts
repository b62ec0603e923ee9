import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { ToolHostProgram } from "../sandboxes/tool-host-program.ts";

/** Scripts that tests start as processes. */
export type TestedPrograms = {
  /** The `convoke` command. */
  readonly command: string;
  readonly failingServer: string;
  readonly shiftingClock: string;
  /** What sandboxes run. */
  readonly toolHost: ToolHostProgram;
};

export const sourcePrograms: TestedPrograms = {
  // Tests run at the root of the repository; the command is in a package above this one.
  command: resolve("packages/cli/src/bin.ts"),
  failingServer: fileURLToPath(new URL("failing-server.ts", import.meta.url)),
  shiftingClock: fileURLToPath(new URL("shifting-clock.ts", import.meta.url)),
  toolHost: {
    node: process.execPath,
    root: fileURLToPath(new URL("../../../../", import.meta.url)),
    entry: "packages/cli/src/bin.ts",
    parts: ["package.json", "packages", "node_modules"],
  },
};

/** Benches, scripts and single fast tests start the sources. */
let programs = sourcePrograms;

/** Selects the programs that tests start from now on. */
export function startProgramsFrom(built: TestedPrograms): void {
  programs = built;
}

export function testedPrograms(): TestedPrograms {
  return programs;
}
