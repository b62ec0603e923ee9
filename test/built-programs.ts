import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { findToolHostProgram } from "../packages/cli/src/find-tool-host-program.ts";
import type { TestedPrograms } from "../packages/server/src/testing/tested-programs.ts";
import { buildCommand } from "../scripts/build-command.ts";
import { compileProgram } from "../scripts/compile-program.ts";
import { outputName } from "../scripts/loaded-files.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly programs: TestedPrograms;
  }
}

const root = path.resolve(import.meta.dirname, "..");
const failingServer = "packages/server/src/testing/failing-server.ts";
const shiftingClock = "packages/server/src/testing/shifting-clock.ts";

/**
 * Builds the programs that tests start, once for all files: a server takes 1.6 s of processor time to start from its sources, and
 * 0.2 s from the build. Returns what removes them.
 */
export default async function setup(project: TestProject): Promise<() => void> {
  // Below the root, where the packages that are not bundled are found.
  const caches = path.join(root, "node_modules/.cache");
  mkdirSync(caches, { recursive: true });
  const folder = mkdtempSync(path.join(caches, "convoke-tested-"));
  // Sandboxes run as another user.
  chmodSync(folder, 0o755);
  const build = async (): Promise<void> => {
    await buildCommand(root, folder, { alsoStarted: [failingServer, shiftingClock] });
    await compileProgram(library);
  };
  const library = path.join(folder, "lib");
  const page = path.join(root, "packages/web/dist");
  if (existsSync(page)) symlinkSync(page, path.join(folder, "web"));
  await build();
  project.onTestsRerun(build);
  const built = (file: string): string => path.join(library, outputName(file));
  project.provide("programs", {
    command: path.join(library, "bin.js"),
    failingServer: built(failingServer),
    shiftingClock: built(shiftingClock),
    toolHost: findToolHostProgram(built("packages/cli/src/sandbox-host.ts")),
  });
  return () => rmSync(folder, { recursive: true, force: true });
}
