import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { readAnswer } from "./read-answer.ts";

/** Options of a thread of clients. */
export type RequestPlan = {
  readonly port: number;
  /** Requested in this order by any free connection; each connection has one pending request. */
  readonly paths: readonly string[];
  /** JSON body of each request; without it requests are GET. */
  readonly body?: string;
  readonly connections: number;
  readonly requests: number;
};

export type RequestReport = {
  /** Milliseconds of each request from the first byte sent to the last byte read. */
  readonly durationsMs: readonly number[];
  readonly seconds: number;
};

const plan = workerData as RequestPlan;
const { body } = plan;
const method = body === undefined ? "GET" : "POST";
const content =
  body === undefined
    ? "\r\n"
    : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const durationsMs: number[] = [];
let asked = 0;

const sockets = await Promise.all(Array.from({ length: plan.connections }, openSocket));
const startedAt = performance.now();
await Promise.all(sockets.map((socket) => ask(socket)));
const report: RequestReport = { durationsMs, seconds: (performance.now() - startedAt) / 1000 };
for (const socket of sockets) socket.destroy();
parentPort?.postMessage(report);

async function openSocket(): Promise<Socket> {
  const socket = connect({ port: plan.port, host: "127.0.0.1", noDelay: true });
  await once(socket, "connect");
  return socket;
}

async function ask(socket: Socket): Promise<void> {
  while (asked < plan.requests) {
    const path = plan.paths[asked % plan.paths.length] ?? "/";
    asked += 1;
    const askedAt = performance.now();
    const answered = readAnswer(socket);
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${plan.port}\r\n${content}`);
    const { status, text } = await answered;
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text().slice(0, 300)}`);
    durationsMs.push(performance.now() - askedAt);
  }
}
