import { mkdirSync, mkdtempDisposableSync } from "node:fs";
import { join, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { emptyView } from "@convoke/client/view";
import { bottomArea } from "../../packages/cli/src/chat/bottom-area.ts";
import { composerLines } from "../../packages/cli/src/chat/input/composer-lines.ts";
import { Screen, type Size } from "../../packages/cli/src/chat/screen/screen.ts";
import { createTheme } from "../../packages/cli/src/chat/screen/theme.ts";
import { Transcript } from "../../packages/cli/src/chat/talk/transcript.ts";
import { buildCommand } from "../../scripts/build-command.ts";
import { compileProgram } from "../../scripts/compile-program.ts";
import type { BenchResult } from "../bench-result.ts";
import { type ChatMemory, measureChat } from "./chat-memory.ts";
import { type Feed, longFeed } from "./long-feed.ts";

const theme = createTheme({ hasColour: true, isAscii: false, mayMove: true });
/** At least this many items of the feed are one frame, as at 200 a second and 30 frames. */
const itemsPerFrame = 7;
const sizes: readonly Size[] = [
  { columns: 100, rows: 30 },
  { columns: 60, rows: 20 },
  { columns: 140, rows: 8 },
  { columns: 90, rows: 45 },
];
const idleSeconds = 20;

type Write = { readonly text: string } | { readonly resizedTo: Size };

/**
 * B17: processor time of `convoke chat` for a feed of 500 events, 2,700 signals and 5,000 lines over four resizes; B17.lost: how many of its
 * lines are not once and in order in the scrollback; B17.idle: share of a core of a spinner alone. B17.memory, B17.peak: of the packaged `convoke chat`
 * as a process of its own, over the same feed from a server that only sends it.
 */
export async function run(): Promise<BenchResult[]> {
  const feed = longFeed();
  const { items, marks } = feed;
  const transcript = new Transcript(emptyView, { theme, folder: "/w", isVerbose: false });
  const writes: Write[] = [];
  const screen = new Screen((text) => writes.push({ text }), sizes[0]!);
  let nowMs = 0;
  const frame = (): void => {
    nowMs += 33;
    for (const line of transcript.finished()) screen.commit(line);
    screen.setArea(areaAt(transcript, screen.size, nowMs));
    screen.frame();
  };
  const before = process.cpuUsage();
  for (const [index, item] of items.entries()) {
    transcript.take(item);
    if (index % itemsPerFrame === 0) {
      frame();
      await setImmediate();
    }
    const next = sizes[Math.floor((index * sizes.length) / items.length)]!;
    if (next === screen.size) continue;
    writes.push({ resizedTo: next });
    screen.resize(next);
  }
  frame();
  const used = process.cpuUsage(before);
  const lost = await countLost(writes, marks);
  const memory = await measurePackaged(feed);
  return [
    {
      id: "B17",
      name: "a feed of 500 events, 2,700 signals and 5,000 lines in the terminal: processor",
      value: seconds(used),
      unit: "s",
    },
    {
      id: "B17.lost",
      name: "its lines that are not once and in order in the scrollback after four resizes",
      value: lost,
      unit: "lines",
    },
    { id: "B17.idle", name: "a spinner alone, share of a core", value: idleShare(), unit: "%" },
    {
      id: "B17.memory",
      name: "memory of the packaged command after the feed, at rest",
      value: memory.settled,
      unit: "MB",
    },
    { id: "B17.peak", name: "its most memory at any time", value: memory.peak, unit: "MB" },
  ];
}

/** Inside the checkout, so that the built command finds the packages outside the bundle. */
async function measurePackaged(feed: Feed): Promise<ChatMemory> {
  const root = resolve(import.meta.dirname, "../..");
  const cache = resolve(root, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  using built = mkdtempDisposableSync(join(cache, "convoke-bench-"));
  await buildCommand(root, built.path);
  await compileProgram(join(built.path, "lib"));
  return await measureChat(join(built.path, "lib/bin.js"), feed, sizes);
}

function areaAt(
  transcript: Transcript,
  { columns, rows }: Size,
  nowMs: number,
): ReturnType<typeof bottomArea> {
  const composer = composerLines(
    { text: "a text", caret: 6, prompt: "> " },
    { columns, maxLines: Math.ceil(rows / 3) },
  );
  const parts = {
    transcript,
    question: [],
    isAnswering: false,
    notice: "",
    composer,
    below: [],
    status: "status",
    nowMs,
    runningSinceMs: 0,
  };
  return bottomArea(parts, theme, { columns, rows });
}

/** Of frames as they are drawn eight times a second while a run is waited for. */
function idleShare(): number {
  const view = { ...emptyView, status: "running" as const };
  const transcript = new Transcript(view, { theme, folder: "/w", isVerbose: false });
  const screen = new Screen(() => {}, sizes[0]!);
  const before = process.cpuUsage();
  for (let index = 0; index < idleSeconds * 8; index += 1) {
    for (const line of transcript.finished()) screen.commit(line);
    screen.setArea(areaAt(transcript, screen.size, index * 125));
    screen.frame();
  }
  return (seconds(process.cpuUsage(before)) / idleSeconds) * 100;
}

async function countLost(writes: readonly Write[], marks: readonly string[]): Promise<number> {
  // Loaded late: it is no part of what is measured.
  const { HeadlessTerminal } = await import("../../packages/cli/src/chat/testing/headless-terminal.ts");
  const terminal = new HeadlessTerminal(sizes[0]!);
  for (const write of writes) {
    if ("text" in write) await terminal.write(write.text);
    else terminal.resize(write.resizedTo.columns, write.resizedTo.rows);
  }
  const text = terminal.lines().join("\n");
  let at = 0;
  return marks.filter((mark) => {
    const found = text.indexOf(mark, at);
    const isOnce = found >= 0 && text.indexOf(mark, found + 1) < 0;
    if (found >= 0) at = found;
    return !isOnce;
  }).length;
}

function seconds({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1e6;
}
