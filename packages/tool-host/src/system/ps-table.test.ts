import { expect, test } from "vitest";
import { parseFolders, parseListeners } from "./parse-lsof.ts";
import { parsePs } from "./parse-ps.ts";
import { createPsTable, type RunProgram } from "./ps-table.ts";

const start = "Sat Nov 28 03:47:21 2026";
const rows = [
  `    1     0     1     0 Ss   ??       ${start} /sbin/launchd`,
  `  500     1   500   512 Ss+  ttys001  ${start} -bash`,
  `  512   500   512   512 S+   ttys001  ${start} sleep 600`,
  `  513   512   513   512 Z    ttys001  ${start} (sh)`,
  `  600     1   601   512 S    ttys001  ${start} left behind`,
  `  700     1   700     0 S    ??       ${start} node server.js`,
  "  broken",
];
const ticks = Date.UTC(2026, 10, 28, 3, 47, 21) / 10;

test("issue 26: rows of ps are processes, with their session found by its leader", () => {
  const found = parsePs(rows.join("\n"));
  expect(
    found.map(({ pid, parentPid, sessionId, foregroundGroupId, state }) => [
      pid,
      parentPid,
      sessionId,
      foregroundGroupId,
      state,
    ]),
  ).toEqual([
    [1, 0, 1, -1, "S"],
    [500, 1, 500, 512, "S"],
    [512, 500, 500, 512, "S"],
    [513, 512, 500, 512, "Z"],
    [600, 1, 1, 512, "S"],
    [700, 1, 1, -1, "S"],
  ]);
  expect(found.every(({ startTicks }) => startTicks === ticks)).toBe(true);
  expect(found[2]!.words).toBe("sleep 600");
});

test("issue 26: open ports and working directories are read from lsof", () => {
  expect(parseFolders("p12\nfcwd\nn/w\np13\nfcwd\nn/a b\n")).toEqual(
    new Map([
      [12, "/w"],
      [13, "/a b"],
    ]),
  );
  const output = "p12\nf3\nn127.0.0.1:80\nf4\nn[::1]:81\np13\nf5\nn*:82\nf6\nn10.0.0.1:83\nf7\nnsocket\n";
  expect(parseListeners(output)).toEqual([
    { pid: 12, port: 81, host: "::1" },
    { pid: 12, port: 80, host: "127.0.0.1" },
    { pid: 13, port: 82, host: "127.0.0.1" },
  ]);
});

function openTable(platform: NodeJS.Platform) {
  let now = 0;
  const calls: string[] = [];
  const listed = [...rows];
  const environment: Readonly<Record<number, string>> = {
    512: " HOME=/h CONVOKE_OWNER=convoke.1 X=y",
    513: " CONVOKE_OWNER=convoke.1",
  };
  const run: RunProgram = (program, args) => {
    calls.push([program, ...args].join(" "));
    if (program !== "ps") return { pid: 0, output: "" };
    const isWithEnvironment = args[0] !== "-axww";
    const output = [...listed, ` 9999   500   500     0 R    ??       ${start} ps`]
      .map((row) => `${row}${isWithEnvironment ? (environment[Number(row.trim().split(" ")[0])] ?? "") : ""}`)
      .join("\n");
    return { pid: 9999, output };
  };
  const gone = new Set<number>();
  const exists = (pid: number): boolean => !gone.has(pid);
  const table = createPsTable({ run, exists, nowMs: () => now, platform });
  return { table, calls, listed, wait: (ms: number) => (now += ms), gone };
}

test("issue 26: polls share a listing, and a process that began since is found", () => {
  const { table, calls, listed, wait, gone } = openTable("darwin");
  expect(table.readProcess(512)).toMatchObject({ pid: 512, groupId: 512 });
  expect(table.readProcess(500)).toMatchObject({ pid: 500 });
  expect(calls).toHaveLength(1);
  listed.push(`  900   500   900   900 S+   ttys001  ${start} new`);
  expect(table.readProcess(900)).toMatchObject({ pid: 900, sessionId: 500 });
  expect(calls).toHaveLength(2);
  wait(200);
  expect(table.readCommandLine(512)).toBe("sleep\u0000600\u0000");
  expect(calls).toHaveLength(3);
  expect(table.readProcess(901)).toBeUndefined();
  expect(calls).toHaveLength(4);
  expect(table.readProcess(9999)).toBeUndefined();
  gone.add(512);
  expect(table.readProcess(512)).toBeUndefined();
  expect(calls).toHaveLength(5);
});

test("issue 26: marked processes are found by their environment, not by arguments that name the mark", () => {
  const { table, calls, listed } = openTable("darwin");
  listed.push(`  901     1   901     0 Ss   ??       ${start} sh convoke-guardian CONVOKE_OWNER=convoke.1`);
  expect(table.findMarkedProcesses("CONVOKE_OWNER=convoke.1").map(({ pid }) => pid)).toEqual([512]);
  expect(table.readEnvironment(512, "X")).toBe("y");
  expect(table.readEnvironment(512, "OWNER")).toBeUndefined();
  expect(calls.some((call) => call.startsWith("ps -axEww"))).toBe(true);
});

test("where there is no ps, no process is known, and nobody is said to be there", () => {
  const table = createPsTable({ run: () => ({ pid: 0, output: "" }), platform: "darwin" });
  expect(table.isThere()).toBe(false);
  expect(table.listProcesses()).toEqual([]);
  expect([table.bootId(), table.openFileLimit(), table.processNamespace()]).toEqual(["", null, "0"]);
});
