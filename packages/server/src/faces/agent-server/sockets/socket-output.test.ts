import { createServer } from "node:http";
import { EventEmitter, once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { EventFrames } from "./event-frames.ts";
import { SharedTimer } from "./shared-timer.ts";
import { checkEveryMs, SocketOutput } from "./socket-output.ts";
import { socketTimes } from "./socket-times.ts";

test("P10: a client is behind in the middle of a large event, however little waits for it", async () => {
  const http = createServer().listen(0, "127.0.0.1");
  await once(http, "listening");
  const sockets = new WebSocketServer({ server: http, perMessageDeflate: false });
  const client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`);
  const [socket, request] = (await once(sockets, "connection")) as [WebSocket, { socket: Socket }];
  await once(client, "open");
  const output = new SocketOutput({
    socket,
    connection: request.socket,
    frames: new EventFrames(),
    times: socketTimes,
    checks: new SharedTimer<SocketOutput>(checkEveryMs(socketTimes), (checked) => checked.check()),
    hasHeartbeat: false,
  });
  const messages: string[] = [];
  client.on("message", (data: Buffer) => messages.push(String(data)));
  const json = JSON.stringify({ id: "large", text: "x".repeat(5_000_000) });
  client.pause();
  const sent = output.send([{ seq: 1, json } as never]);
  // It waits for the client between two frames: whatever the system has taken, nothing else may be sent there.
  expect(output.isBehind).toBe(true);
  Object.defineProperty(socket, "bufferedAmount", { value: 0, configurable: true });
  expect(output.isBehind).toBe(true);
  output.offer("dropped");
  delete (socket as { bufferedAmount?: number }).bufferedAmount;
  client.resume();
  expect(await sent).toBe(true);
  expect(output.isBehind).toBe(socket.bufferedAmount >= 64_000);
  output.end();
  client.terminate();
  sockets.close();
  http.close();
  await once(http, "close");
  expect(messages.every((message) => message === json)).toBe(true);
});

test("P45: a client without input in ten checks is dropped; part of a message counts as input", () => {
  const connection = { bytesRead: 100 };
  let isCut = false;
  const socket = Object.assign(new EventEmitter(), { terminate: () => (isCut = true), ping: () => {} });
  const output = new SocketOutput({
    socket: socket as unknown as WebSocket,
    connection: connection as Socket,
    frames: new EventFrames(),
    times: socketTimes,
    checks: new SharedTimer<SocketOutput>(checkEveryMs(socketTimes), () => {}),
    hasHeartbeat: false,
  });
  for (let checks = 0; checks < 9; checks += 1) output.check();
  connection.bytesRead += 1;
  for (let checks = 0; checks < 9; checks += 1) output.check();
  expect(isCut).toBe(false);
  output.check();
  expect(isCut).toBe(true);
  output.end();
});
