import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Python } from "./find-python.ts";

const requirements = join(import.meta.dirname, "requirements.txt");

export type PythonPackages = {
  /** Another version of the SDK's own packages. */
  readonly sdk?: string;
  /** The path of a list of further packages. */
  readonly more?: string;
};

/**
 * The Python program of a virtual environment with exactly the pinned packages, in the temporary folder; created once for each Python
 * and each list of packages. Throws when the packages are not available.
 */
export function preparePython({ program, version }: Python, { sdk, more }: PythonPackages = {}): string {
  const lists = [requirements, ...(more === undefined ? [] : [more])];
  const pinned = lists.map((list) => readFileSync(list, "utf8")).join("\n");
  const list = sdk === undefined ? pinned : pinned.replaceAll(/^(openhands-\w+)==.*$/gm, `$1==${sdk}`);
  const digest = createHash("sha256").update(version).update(list).digest("hex");
  const folder = join(tmpdir(), `convoke-python-sdk-${digest.slice(0, 12)}`);
  const python = join(folder, "bin", "python");
  const mark = join(folder, "complete");
  if (existsSync(mark)) return python;
  console.error(`Installing the SDK into ${folder}; this takes minutes, once.`);
  // Remains of an interrupted run.
  rmSync(folder, { recursive: true, force: true });
  const run = (command: string, ...words: readonly string[]): void => {
    try {
      execFileSync(command, words, { stdio: ["ignore", "inherit", "inherit"], timeout: 1_200_000 });
    } catch (cause) {
      throw new Error(
        "The SDK could not be installed; pip says why above. It needs PyPI or an index like it.",
        { cause },
      );
    }
  };
  run(program, "-m", "venv", folder);
  const wanted = join(folder, "requirements.txt");
  writeFileSync(wanted, list);
  run(python, "-m", "pip", "install", "--quiet", "--no-deps", "-r", wanted);
  writeFileSync(mark, "");
  return python;
}
