import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { ToolHost } from "../host.ts";
import { createInProcessHost } from "../in-process-host.ts";
import { openServedBench } from "../testing/served-host.ts";
import { allowedEnvironment } from "./allowed-environment.ts";
import type { PersonShell } from "./person-shell.ts";
import { findMarkedProcesses } from "../system/process-table.ts";

const owned: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of owned.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

const environment = allowedEnvironment({ PATH: process.env["PATH"], HOME: "/nonexistent" });
const hosts: readonly { readonly name: string; readonly open: () => Promise<ToolHost> }[] = [
  { name: "in this process", open: async () => createInProcessHost({ tools: [], environment }) },
  {
    name: "behind a socket",
    open: async () => {
      const bench = await openServedBench({ environment });
      owned.push(bench);
      return bench.connect();
    },
  },
];

/** Collects the output of a shell. */
function listen(shell: PersonShell): { readonly shownText: () => string; readonly over: Promise<void> } {
  let shownText = "";
  const over = (async () => {
    for await (const bytes of shell.output) shownText += (bytes as Buffer).toString("utf8");
  })();
  return { shownText: () => shownText, over };
}

describe.each(hosts)("a shell of a person at a host $name", ({ open }) => {
  async function openFolder(): Promise<string> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "person-shell-")));
    owned.push({ [Symbol.asyncDispose]: async () => rm(folder, { recursive: true }) });
    return folder;
  }
  async function openHost(): Promise<ToolHost> {
    const host = await open();
    owned.push(host);
    return host;
  }

  test("J18: begins in its folder, does what is typed at the size it has, and says how it ended", async () => {
    const [folder, host] = [await openFolder(), await openHost()];
    await using shell = await host.openShell({ workingDir: folder, columns: 90, rows: 20 });
    const { shownText, over } = listen(shell);
    shell.act({ type: "type", text: "pwd; stty size\r" });
    await expect.poll(shownText).toContain(folder);
    await expect.poll(shownText).toContain("20 90");
    shell.act({ type: "resize", columns: 70, rows: 33 });
    shell.act({ type: "type", text: "stty size; exit 7\r" });
    await over;
    expect(shownText()).toContain("33 70");
    expect(await shell.ended).toBe(7);
    shell.act({ type: "type", text: "nobody reads this\r" });
  });

  test("J18: disposing it or its host ends everything that it started", async () => {
    const [folder, host] = [await openFolder(), await openHost()];
    const shells = [];
    for (const word of ["one", "two"]) {
      const shell = await host.openShell({ workingDir: folder, columns: 80, rows: 24 });
      const { shownText } = listen(shell);
      shell.act({ type: "type", text: `WORD=${word}${folder} setsid sleep 600 & echo be''gun\r` });
      await expect.poll(shownText).toContain("begun");
      await expect.poll(() => findMarkedProcesses(`WORD=${word}${folder}`)).toHaveLength(1);
      shells.push(shell);
    }
    await shells[0]?.[Symbol.asyncDispose]();
    await expect.poll(() => findMarkedProcesses(`WORD=one${folder}`)).toEqual([]);
    expect(findMarkedProcesses(`WORD=two${folder}`)).toHaveLength(1);
    await host[Symbol.asyncDispose]();
    await expect.poll(() => findMarkedProcesses(`WORD=two${folder}`)).toEqual([]);
  });

  test("J18: a missing folder is reported", async () => {
    const host = await openHost();
    const opened = host.openShell({ workingDir: "/no/such/folder", columns: 80, rows: 24 });
    await expect(opened.then(async ({ ended }) => ended)).rejects.toThrow("/no/such/folder");
  });
});
