import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { StoredEvent } from "../../../journal/journal.ts";
import { EventFrames } from "./event-frames.ts";

/** Lengths on both sides of every form of a frame's length, and more than one piece together. */
const texts = [
  "",
  "a",
  "é".repeat(61),
  "x".repeat(123),
  "x".repeat(124),
  "ü€😀".repeat(700),
  "y".repeat(65_533),
];
const longTexts = ["y".repeat(65_534), "z".repeat(300_000), "last", "ü€😀".repeat(200_000), "after it"];
const events = [...texts, ...longTexts].map((text, index): StoredEvent => ({
  seq: index + 1,
  id: `id-${index}`,
  json: `{${text}}`,
}));

test("an independent client reads every event from the bytes, in order", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  try {
    await once(server, "listening");
    server.on("connection", (_socket, request) => {
      for (const { bytes } of new EventFrames().of(events)) request.socket.write(bytes);
    });
    using client = disposable(new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`));
    const received: string[] = [];
    await new Promise<void>((resolve, reject) => {
      client.socket.on("error", reject);
      client.socket.on("message", (data: Buffer) => {
        received.push(data.toString("utf8"));
        if (received.length === events.length) resolve();
      });
    });
    expect(received).toEqual(events.map(({ json }) => json));
  } finally {
    server.close();
  }
});

test("a chunk stays near its size and holds whole frames; a batch is encoded once", () => {
  const frames = new EventFrames();
  const many = Array.from({ length: 1000 }, (_, index) => ({
    seq: index + 1,
    id: "",
    json: `{${"x".repeat(998)}}`,
  }));
  const chunks = frames.of(many);
  expect(chunks.map(({ bytes }) => bytes.length)).toEqual([262_044, 262_044, 262_044, 217_868]);
  expect(chunks.every(({ endsMessage }) => endsMessage)).toBe(true);
  expect(frames.of(many)).toBe(chunks);
  expect(frames.of([])).toEqual([]);
});

test("P29: a large event is many frames of one message; the messages before and after it stay whole", () => {
  const chunks = new EventFrames().of(
    ["{}", `{${"x".repeat(999_999)}}`, "{}"].map((json, index) => ({ seq: index + 1, id: "", json })),
  );
  expect(chunks.map(({ bytes, endsMessage }) => [bytes[0], bytes.length, endsMessage])).toEqual([
    [0x81, 4, true],
    [0x01, 262_154, false],
    [0x00, 262_154, false],
    [0x00, 262_154, false],
    [0x80, 213_579, true],
    [0x81, 4, true],
  ]);
});

function disposable(socket: WebSocket): Disposable & { readonly socket: WebSocket } {
  return { socket, [Symbol.dispose]: () => socket.terminate() };
}
