import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { checkLeaksAfterEach } from "./check-leaks.ts";
import { readLog } from "./crash-harness.ts";
import { ServerProcess } from "./server-process.ts";
import { TestSocket } from "./test-socket.ts";

checkLeaksAfterEach();

const id = "33333333-3333-4333-8333-333333333333";
/** Without a reader that stops. */
const quietId = "33333333-3333-4333-8333-333333333334";
const wedgedCount = 3;
/** Large enough that noise of the heap between two collections is small compared with unread bytes. */
const largeCount = 40;
const largeBytes = 1_000_000;
const stallMs = 4_000;

test("P10: readers that stop reading delay no other reader, cost a bounded buffer, are closed with 4008, and resume by id", async () => {
  await using folder = await openTemporaryDirectory();
  await using server = await ServerProcess.start({
    dataDir: join(folder.path, "data"),
    // A reader that takes nothing answers no ping either; here only the stall counts.
    // A reader that resumes within the closing time learns why it was closed.
    times: { stallMs, deadAfterMs: 120_000, closingMs: 120_000 },
  });
  for (const conversationId of [id, quietId]) {
    await server.client.startConversation({
      conversation_id: conversationId,
      agent: { kind: "Agent", llm: { model: "openai/none", api_key: "none" }, tools: [] },
      workspace: { kind: "LocalWorkspace", working_dir: join(folder.path, "work") },
    });
  }
  using reader = openSocket(server, "resend_mode=all");
  using quietReader = openSocket(server, "resend_mode=all", quietId);
  await sendLarge(server, reader);
  const before = await server.memory();

  using sockets = new DisposableStack();
  const wedged = Array.from({ length: wedgedCount }, () => sockets.use(openSocket(server, "")));
  for (const socket of wedged) await untilFrames(socket, 1);
  for (const { socket } of wedged) socket.pause();
  await sendLarge(server, reader);
  const [alone, beside] = await medianDelays(server, quietReader, reader);
  const after = await server.memory();

  const grownBytes = heldBytes(after) - heldBytes(before);
  const unsentBytes = wedgedCount * largeCount * largeBytes;
  console.log(
    `delay alone ${alone.toFixed(1)} ms, beside wedged readers ${beside.toFixed(1)} ms; memory grew by ` +
      `${(grownBytes / 1e6).toFixed(0)} MB for ${unsentBytes / 1e6} MB that nobody took`,
  );
  // A blocked sender would wait until the stalled reader is closed. The delay compared with a single reader is printed above: on a busy
  // machine one measurement differs from the next by as much as it takes.
  for (const delay of [alone, beside]) expect(delay).toBeLessThan(stallMs / 2);
  expect(grownBytes).toBeLessThan(unsentBytes / 3);

  await sleep(stallMs + 2_000);
  const stored = await readLog(server.url, server.key, id);
  for (const socket of wedged) {
    socket.socket.resume();
    expect(await socket.closed).toMatchObject({ code: 4008 });
    const first = eventsOf(socket);
    const lastId = (JSON.parse(first.at(-1)!) as { id: string }).id;
    using again = openSocket(server, `after_event_id=${lastId}`);
    const missing = stored.length - stored.findIndex((json) => json === first[0]);
    await untilFrames(again, 1 + missing - first.length);
    expect([...first, ...eventsOf(again)]).toEqual(stored.slice(-missing));
  }
}, 180_000);

/** Memory of the sockets' thread; other threads read the sent events into the text index, each in its own time. */
function heldBytes({ heapUsed, external }: NodeJS.MemoryUsage): number {
  return heapUsed + external;
}

function openSocket(server: ServerProcess, query: string, conversationId = id): TestSocket {
  const options = { headers: { "x-session-api-key": server.key } };
  return new TestSocket(`${server.url}/sockets/events/${conversationId}?${query}`, options);
}

/** Counts without parsing: the frames are large. */
async function untilFrames({ frames }: TestSocket, count: number): Promise<void> {
  for (let waits = 0; frames.length < count && waits < 9_000; waits++) await sleep(10);
}

/** Frames that are stored events. */
function eventsOf({ frames }: TestSocket): string[] {
  return frames.filter((frame) => (JSON.parse(frame) as { key?: string }).key !== "full_state");
}

async function sendLarge(server: ServerProcess, reader: TestSocket): Promise<void> {
  const text = "x".repeat(largeBytes);
  for (let sent = 0; sent < largeCount; sent++) await sendAndReceive(server, reader, text);
}

/** Median milliseconds from sending a small message to its arrival at a reader, alternating, so that the machine is equally busy for both. */
async function medianDelays(
  server: ServerProcess,
  quietReader: TestSocket,
  reader: TestSocket,
): Promise<[alone: number, beside: number]> {
  const alone: number[] = [];
  const beside: number[] = [];
  for (let sent = 0; sent < 60; sent++) {
    alone.push(await sendAndReceive(server, quietReader, `small ${sent}`, quietId));
    beside.push(await sendAndReceive(server, reader, `small ${sent}`));
  }
  return [median(alone), median(beside)];
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length / 2]!;
}

async function sendAndReceive(
  server: ServerProcess,
  reader: TestSocket,
  text: string,
  conversationId = id,
): Promise<number> {
  const arrival = new Promise<void>((resolve) => {
    const onFrame = (data: Buffer): void => {
      if (!data.includes('"kind":"MessageEvent"')) return;
      reader.socket.off("message", onFrame);
      resolve();
    };
    reader.socket.on("message", onFrame);
  });
  const startMs = performance.now();
  await Promise.all([
    arrival,
    server.client.sendMessage(conversationId, { content: [{ type: "text", text }], run: false }),
  ]);
  return performance.now() - startMs;
}
