import { spawnSync } from "node:child_process";
import path from "node:path";
import type { Packed } from "./pack-release.ts";
import { resolveToolFile } from "./resolve-tool-file.ts";

/**
 * Holds packed packages to what npm, Node, bundlers and TypeScript expect of them: publint for all, and attw for the libraries, as
 * ES modules. `folder` has the tarballs. Returns what is wrong.
 */
export function checkPackages(root: string, folder: string, packed: readonly Packed[]): readonly string[] {
  const publint = packed.map(({ name, file }) =>
    check(root, `publint ${name}`, "publint", "publint", ["run", path.join(folder, file), "--strict"]),
  );
  const libraries = packed.filter(({ name }) => name === "@convoke/client" || name === "@convoke/protocol");
  const attw = libraries.map(({ name, file }) => {
    const args = [path.join(folder, file), "--profile", "esm-only", "--no-emoji", "--format", "ascii"];
    return check(root, `attw ${name}`, "@arethetypeswrong/cli", "attw", args);
  });
  return [...publint, ...attw].filter((problem) => problem !== null);
}

function check(
  root: string,
  what: string,
  name: string,
  command: string,
  args: readonly string[],
): string | null {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [resolveToolFile(root, name, command), ...args],
    { cwd: root, encoding: "utf8" },
  );
  return status === 0 ? null : `${what}:\n${stdout}${stderr}`;
}
