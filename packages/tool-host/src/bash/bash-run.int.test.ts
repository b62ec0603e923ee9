import { expect, test } from "vitest";
import { startUnread } from "../processes/testing/start-unread.ts";
import { runBash } from "./bash-run.ts";

test("all output of a command is reported, even if its exit is reported first and the machine is busy", async () => {
  const { ended } = await startUnread(() => ({
    ended: runBash({
      id: crypto.randomUUID(),
      command: "echo said; echo bad >&2",
      cwd: "/",
      environment: { PATH: process.env["PATH"] ?? "" },
      timeoutMs: 60_000,
      secrets: [],
      onChunk: () => {},
      signal: new AbortController().signal,
    }),
  }));
  expect(await ended).toEqual({ stdout: "said\n", stderr: "bad\n", exitCode: 0 });
});
