import { readFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type * as Pty from "@lydell/node-pty";
import type { Size } from "../../packages/cli/src/chat/screen/screen.ts";
import { residentMegabytes } from "../node/resident-memory.ts";
import { FeedServer } from "./feed-server.ts";
import type { Feed } from "./long-feed.ts";

export type ChatMemory = {
  /** Megabytes when the feed is drawn and nothing moves any more, and the most at any time. */
  readonly settled: number;
  readonly peak: number;
};

const longestMs = 120_000;
/** A person reads. V8 collects in that time, or not. */
const quietMs = 20_000;

/**
 * `convoke chat` of the package as a process of its own, in a pseudo-terminal, over the feed and four sizes; the system says its memory.
 * `command` is the built `bin.js`.
 */
export async function measureChat(command: string, feed: Feed, sizes: readonly Size[]): Promise<ChatMemory> {
  const { spawn } = createRequire(import.meta.url)("@lydell/node-pty") as typeof Pty;
  await using server = await FeedServer.open(feed);
  await using home = await mkdtempDisposable(join(tmpdir(), "convoke-chat-"));
  const [first, ...others] = sizes;
  const terminal = spawn(process.execPath, [command, "chat", server.id, "--server", server.url], {
    cols: first!.columns,
    rows: first!.rows,
    cwd: home.path,
    env: { PATH: process.env["PATH"], HOME: home.path, LANG: "C.UTF-8", TERM: "xterm-256color" },
  });
  let text = "";
  let wroteAtMs = performance.now();
  terminal.onData((written) => {
    text += written;
    wroteAtMs = performance.now();
  });
  const ended = new Promise<void>((resolve) => void terminal.onExit(() => resolve()));
  const until = async (what: string, isTrue: () => boolean): Promise<void> => {
    for (const startMs = performance.now(); !isTrue(); await sleep(20))
      if (performance.now() - startMs > longestMs)
        throw new Error(`chat never had ${what}:\n${text.slice(-2_000)}`);
  };
  try {
    await until("its first mark", () => text.includes(feed.marks[0]!));
    for (const { columns, rows } of others) {
      await sleep(700);
      terminal.resize(columns, rows);
    }
    await server.sent;
    await until("the last mark", () => text.includes(feed.marks.at(-1)!));
    await until("a rest", () => performance.now() - wroteAtMs > quietMs);
    return { settled: residentMegabytes(terminal.pid), peak: peakMegabytes(terminal.pid) };
  } finally {
    terminal.kill("SIGTERM");
    await ended;
  }
}

function peakMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
