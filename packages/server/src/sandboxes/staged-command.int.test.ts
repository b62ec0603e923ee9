import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ownAccount } from "./find-bubblewrap.ts";
import { stagedCommand } from "./staged-command.ts";

test.runIf(ownAccount().uid === 0)(
  "what root's shell reads when it starts is no part of a sandbox",
  async () => {
    const home = mkdtempSync(join(tmpdir(), "convoke-home-"));
    try {
      const seen = join(home, "seen");
      writeFileSync(join(home, ".bashrc"), `echo read >${seen}\n`);
      const { file, args } = stagedCommand({ uid: 65_534, gid: 65_534 }, [], ["/bin/echo", "ran"]);
      // Its input is a socket, as that of every child whose input is a pipe of Node's.
      const env = { PATH: process.env["PATH"], HOME: home };
      const { stdout } = await promisify(execFile)(file, [...args], { env });
      expect(stdout).toBe("ran\n");
      expect(existsSync(seen)).toBe(false);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
);
