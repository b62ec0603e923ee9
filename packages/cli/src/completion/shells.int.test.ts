import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { testedPrograms } from "@convoke/server/testing";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { completionScripts } from "./scripts.ts";

const execute = promisify(execFile);
const program = `"${process.execPath}" "${testedPrograms().command}"`;

/** Runs lines in a shell with a home of its own; they print what stands for the last word. */
async function complete(shell: string, options: readonly string[], lines: readonly string[]) {
  await using folder = await openTemporaryDirectory();
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder.path };
  const { stdout } = await execute(shell, [...options, lines.join("\n")], { env });
  return stdout.trim().split("\n");
}

const hasZsh = spawnSync("zsh", ["--version"]).status === 0;

test.runIf(hasZsh)(
  `zsh completes commands and flags with what they do${hasZsh ? "" : " (skipped: zsh is not installed)"}`,
  async () => {
    const found = await complete(
      "zsh",
      ["-f", "-c"],
      [
        `convoke() { ${program} "$@"; }`,
        // Outside of its line editor zsh has neither of these.
        "compdef() { :; }",
        `_describe() { print -rl -- "\${(@P)2}"; }`,
        "_files() { print files; }",
        completionScripts.zsh,
        `words=(convoke ls --st); CURRENT=3; _convoke`,
        `words=(convoke run --file ""); CURRENT=4; _convoke`,
      ],
    );
    expect(found).toEqual([expect.stringMatching(/^--status:\w/), "files"]);
  },
);

const hasFish = spawnSync("fish", ["--version"]).status === 0;

test.runIf(hasFish)(
  `fish completes commands and flags with what they do${hasFish ? "" : " (skipped: fish is not installed)"}`,
  async () => {
    const found = await complete(
      "fish",
      ["--no-config", "-c"],
      [
        `function convoke; ${program} $argv; end`,
        completionScripts.fish,
        `complete --do-complete "convoke keys set-"`,
        `complete --do-complete "convoke ls --st"`,
      ],
    );
    expect(found).toEqual([
      expect.stringMatching(/^set-policy\t\w/),
      expect.stringMatching(/^set-role\t\w/),
      expect.stringMatching(/^--status\t\w/),
    ]);
  },
);
