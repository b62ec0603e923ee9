import { readdirSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TerminalAction } from "@convoke/protocol";
import { expect, test } from "vitest";
import { allowedEnvironment } from "../../processes/allowed-environment.ts";
import { findMarkedProcesses } from "../../system/process-table.ts";
import { Shell } from "./shell.ts";
import { TerminalRecord } from "./terminal-record.ts";
import { TerminalSession } from "./terminal-session.ts";

/** A session whose shells call `onOpened` when they are ready, before the session has them. */
async function openSession(onOpened: () => void | Promise<void>) {
  const root = await realpath(await mkdtemp(join(tmpdir(), "terminal-session-")));
  const shells = join(root, "shells");
  let count = 0;
  const session = new TerminalSession({
    openShell: async (signal) => {
      count += 1;
      const shell = await Shell.open({
        program: "/bin/bash",
        workingDir: root,
        environment: allowedEnvironment(process.env),
        marker: root,
        onOutput: () => {},
        directory: join(shells, String(count)),
        signal,
      });
      await onOpened();
      return shell;
    },
    wasUsedBefore: false,
    program: "/bin/bash",
    workspaceDir: "/w",
    outputDirectory: join(root, "observations"),
    quietSeconds: 20,
    longestSeconds: 60,
    idleTimeoutSeconds: null,
    goesOn: false,
    record: new TerminalRecord(0),
    maxCharacters: 1_000_000,
  });
  return {
    session,
    run: (command: string, signal = new AbortController().signal) => {
      const action: TerminalAction = {
        kind: "TerminalAction",
        command,
        is_input: false,
        timeout: null,
        reset: false,
      };
      return session.execute(action, {
        actionId: "action",
        tool: "terminal",
        signal,
        secrets: [],
        onProgress: () => {},
      });
    },
    files: () => readdirSync(root).filter((name) => name !== "shells"),
    shellFolders: () => readdirSync(shells),
    processes: () => findMarkedProcesses(`CONVOKE_SESSION=${root}`),
    [Symbol.asyncDispose]: async () => {
      await session[Symbol.asyncDispose]();
      await rm(root, { recursive: true });
    },
  };
}

test("P43, F1: a call that is stopped while its shell is opened starts nothing", async () => {
  const abort = new AbortController();
  await using terminal = await openSession(() => abort.abort());
  expect(await terminal.run("touch made", abort.signal)).toMatchObject({ exit_code: 130, is_error: false });
  expect(await terminal.run("touch after")).toMatchObject({ exit_code: 0 });
  expect(terminal.files()).toEqual(["after"]);
});

test("P43, F1: a stop does not wait for a shell that is not ready yet", async () => {
  const abort = new AbortController();
  await using terminal = await openSession(() => {});
  const answer = terminal.run("touch made", abort.signal);
  // The process exists long before it is ready for commands.
  await expect.poll(() => terminal.processes().length, { interval: 1 }).toBeGreaterThan(0);
  abort.abort();
  expect(await answer).toMatchObject({ exit_code: 130 });
  expect(terminal.processes()).toEqual([]);
  expect(terminal.shellFolders()).toEqual([]);
  expect(terminal.files()).toEqual([]);
});

test("P43, F1: a command whose shell died is not started again in a new one after a stop", async () => {
  const abort = new AbortController();
  let isSecond = false;
  await using terminal = await openSession(() => {
    if (isSecond) abort.abort();
    isSecond = true;
  });
  await terminal.run("true");
  for (const { pid } of terminal.processes()) process.kill(pid, "SIGKILL");
  expect(await terminal.run("touch made", abort.signal)).toMatchObject({ exit_code: 130 });
  expect(terminal.files()).toEqual([]);
});

test("P14, F8: a session that is closed while its shell is opened leaves no process and no folder", async () => {
  const closed = Promise.withResolvers<void>();
  await using terminal = await openSession(() => {
    // Open, but not yet assigned to the session.
    void terminal.session[Symbol.asyncDispose]().then(closed.resolve);
  });
  await expect(
    Promise.all([terminal.run("touch made").catch(() => {}), closed.promise]),
  ).resolves.toBeDefined();
  expect(terminal.processes()).toEqual([]);
  expect(terminal.shellFolders()).toEqual([]);
  expect(terminal.files()).toEqual([]);
  await expect(terminal.run("touch made")).rejects.toThrow();
  expect(terminal.processes()).toEqual([]);
});
