import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { FrameCounter } from "./frame-counter.ts";

/** Options of a client thread. */
export type ClientPlan = {
  readonly port: number;
  readonly path: string;
  readonly socketCount: number;
  /** Text frames that come before the first event. */
  readonly greetingFrames: number;
  readonly eventCount: number;
  /** Number of events between two progress reports of all sockets. */
  readonly reportEvery: number;
  /** Arrival of event `e` at socket `s` in milliseconds of the monotonic clock at `s * eventCount + e`; null to leave it out. */
  readonly arrivals: Float64Array<SharedArrayBuffer> | null;
};

export type ClientReport =
  /** All sockets are open and have been greeted. */
  | { readonly type: "open" }
  /** Every socket has this many events. */
  | { readonly type: "progress"; readonly events: number };

const plan = workerData as ClientPlan;
const counts = new Int32Array(plan.socketCount);
let greeted = 0;
let reported = 0;
let behind = plan.socketCount;

for (let socket = 0; socket < plan.socketCount; socket += 1) open(socket);

function open(index: number): void {
  const socket = connect({ port: plan.port, host: "127.0.0.1", noDelay: true });
  const key = randomBytes(16).toString("base64");
  socket.write(
    `GET ${plan.path} HTTP/1.1\r\nHost: 127.0.0.1:${plan.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
  );
  let head = Buffer.alloc(0);
  const onHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) return;
    if (!head.subarray(0, 12).equals(Buffer.from("HTTP/1.1 101"))) throw new Error(head.toString());
    socket.off("data", onHead);
    const frames = count(index, socket);
    socket.on("data", (data) => frames.push(data));
    frames.push(head.subarray(end + 4));
    if (plan.greetingFrames === 0) onGreeted();
  };
  socket.on("data", onHead);
}

function count(index: number, socket: Socket): FrameCounter {
  let greetingsLeft = plan.greetingFrames;
  return new FrameCounter({
    onPing: () => socket.write(Buffer.from([0x8a, 0x80, 0, 0, 0, 0])),
    onText: () => {
      if (greetingsLeft > 0) {
        greetingsLeft -= 1;
        if (greetingsLeft === 0) onGreeted();
        return;
      }
      const events = counts[index] ?? 0;
      counts[index] = events + 1;
      if (plan.arrivals !== null)
        plan.arrivals[index * plan.eventCount + events] = Number(process.hrtime.bigint()) / 1e6;
      if (events + 1 === reported + plan.reportEvery) onReached();
    },
  });
}

function onGreeted(): void {
  greeted += 1;
  if (greeted === plan.socketCount) report({ type: "open" });
}

/** Counts the sockets that have reached the next mark; the last one moves the mark. */
function onReached(): void {
  behind -= 1;
  while (behind === 0) {
    reported += plan.reportEvery;
    report({ type: "progress", events: reported });
    behind = counts.reduce((sum, events) => sum + (events < reported + plan.reportEvery ? 1 : 0), 0);
  }
}

function report(message: ClientReport): void {
  parentPort?.postMessage(message);
}
