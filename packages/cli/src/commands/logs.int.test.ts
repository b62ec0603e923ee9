import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { runConvoke } from "@convoke/server/testing";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";

/** Debian's `systemd-journal-remote`: makes a journal of lines, without a service that is booted. */
const writer = ["/usr/lib/systemd/systemd-journal-remote", "/lib/systemd/systemd-journal-remote"].find(
  existsSync,
);
const reader = spawnSync("which", ["journalctl"], { encoding: "utf8" }).stdout.trim();
const can = writer !== undefined && reader !== "";

const machine = "1d3b0f0e4d6b4a2b8f5a3f6e9c1d2e3f";

function entry(second: number, fields: Readonly<Record<string, string>>): string {
  const known = {
    __REALTIME_TIMESTAMP: `${1_700_000_000 + second}000000`,
    __MONOTONIC_TIMESTAMP: `${second}000000`,
    _BOOT_ID: machine,
    _MACHINE_ID: machine,
  };
  return `${Object.entries({ ...known, ...fields })
    .map(([name, value]) => `${name}=${value}\n`)
    .join("")}\n`;
}

const line = (level: number, msg: string): string => JSON.stringify({ level, time: 0, msg });

test.runIf(can)(
  `logs reads the service from a journal of systemd, the user's own too${can ? "" : " (skipped: needs journalctl and systemd-journal-remote)"}`,
  async () => {
    await using folder = await openTemporaryDirectory();
    const at = (name: string): string => join(folder.path, name);
    for (const name of ["bin", "journal"]) mkdirSync(at(name));
    const own = { _SYSTEMD_USER_UNIT: "convoke.service", _UID: String(process.getuid?.()) };
    writeFileSync(
      at("lines"),
      [
        entry(1, { _SYSTEMD_UNIT: "convoke.service", MESSAGE: line(30, "ready") }),
        entry(2, { _SYSTEMD_UNIT: "other.service", MESSAGE: line(50, "not ours") }),
        entry(3, { _SYSTEMD_UNIT: "convoke.service", MESSAGE: line(50, "disk full") }),
        entry(4, { ...own, MESSAGE: line(30, "of the user") }),
      ].join(""),
    );
    execFileSync(writer!, [`--output=${at("journal/test.journal")}`, at("lines")], { stdio: "ignore" });
    writeFileSync(at("bin/journalctl"), `#!/bin/sh\nexec ${reader} --directory='${at("journal")}' "$@"\n`);
    chmodSync(at("bin/journalctl"), 0o755);
    const PATH = [at("bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
    const logs = async (...words: string[]): Promise<readonly string[]> => {
      const { code, stdout, stderr } = await runConvoke(["logs", ...words], { HOME: folder.path, PATH });
      expect(code, stderr).toBe(0);
      const lines = stdout.trim().split("\n");
      return lines.map((shown) => shown.split(/ +/).slice(1).join(" "));
    };
    expect(await logs()).toEqual(["info ready", "error disk full", "info of the user"]);
    expect(await logs("--level", "error")).toEqual(["error disk full"]);
    expect(await logs("--lines", "1")).toEqual(["info of the user"]);
    expect(await logs("--unit", "other")).toEqual(["error not ours"]);
  },
);
