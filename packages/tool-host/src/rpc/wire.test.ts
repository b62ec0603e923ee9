import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openServedBench, testKey } from "../testing/served-host.ts";
import type { ServedBench, ServedBenchOptions } from "../testing/served-host.ts";
import { parseAddress } from "./address.ts";
import { ToolHostRefusedError, ToolHostUnreachableError } from "./connection-errors.ts";
import { encodeChunkHeader, encodeMessage, FrameReader, FrameTooLargeError } from "./frames.ts";
import type { Frame } from "./frames.ts";
import { protocolNumber } from "./messages.ts";
import { proveKey } from "./prove-key.ts";

test("a wrong key is refused at once, on both sides, and does not cross the wire", async () => {
  const bench = await openBench();
  await expect(bench.connect({ key: "another key than the host's" })).rejects.toThrow(ToolHostRefusedError);
  const caller = await openRawCaller(bench);
  const challenge = await caller.next();
  expect(Object.keys(challenge ?? {})).toEqual(["serverNonce", "proof"]);
  expect(caller.received()).not.toContain(testKey);
  caller.send({ proof: proveKey("another key", "client", { clientNonce: "n", serverNonce: "s" }) });
  expect(await caller.next()).toMatchObject({ refused: "key" });
  for (const proof of ["", null, {}, testKey]) caller.send({ proof });
  await caller.closed;
});

test("the host's own proof, or a recorded one, lets nobody in", async () => {
  const bench = await openBench();
  const caller = await openRawCaller(bench);
  const { proof } = (await caller.next()) as { proof: string };
  caller.send({ proof });
  expect(await caller.next()).toMatchObject({ refused: "key" });
});

test("P57: another version of the protocol is refused with both releases and what to do", async () => {
  const bench = await openBench();
  const caller = await openRawCaller(bench, { protocol: protocolNumber + 1, version: "9.9.9" });
  expect(await caller.next()).toEqual({
    refused: "version",
    message: expect.stringMatching(/speaks version 2 .*9\.9\.9.* speaks 3\. Run both from the same release/),
  });
  await caller.closed;
});

test("junk, oversized and malformed frames close the connection and nothing else", async () => {
  const warnings: string[] = [];
  const bench = await openBench({ serve: { onWarning: (text) => warnings.push(text) } });
  const remote = await bench.connect();
  const session = await remote.openSession(bench.spec);
  const junk = [
    Buffer.from("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    Buffer.from([0, 0, 0, 0]),
    Buffer.from([0, 0, 0, 3, 0x4a, 0x7b, 0x7b]),
    Buffer.from([0, 0, 0, 2, 0x58, 0x58]),
    Buffer.concat([encodeChunkHeader(1, 3), Buffer.from("abc")]),
    encodeMessage({ text: "x".repeat(5_000) }, 10_000),
    encodeMessage({ protocol: protocolNumber }, 10_000),
    ...Array.from({ length: 50 }, (_, seed) => pseudoRandomBytes(seed, 64)),
  ];
  for (const bytes of junk) {
    const socket = await openSocket(bench);
    socket.write(bytes);
    socket.end();
    await untilClosed(socket);
  }
  expect(warnings.length).toBeGreaterThan(5);
  expect(await session.state("a")).toEqual({ type: "unknown" });
});

test("junk after the greeting closes that connection only", async () => {
  const bench = await openBench();
  const other = await (await bench.connect()).openSession(bench.spec);
  for (const bytes of [Buffer.from([0xff, 0xff, 0xff, 0xff, 0]), encodeMessage({ no: "id" }, 1_000)]) {
    const caller = await openRawCaller(bench);
    await caller.greet();
    caller.write(bytes);
    await caller.closed;
  }
  expect(await other.state("a")).toEqual({ type: "unknown" });
});

test("unknown methods and wrong fields are answered with an error", async () => {
  const bench = await openBench();
  const caller = await openRawCaller(bench);
  await caller.greet();
  const bad = [
    { method: "reboot", params: {} },
    { method: "toString", params: {} },
    { method: "execute", params: null },
    { method: "openSession", params: { handle: "h", spec: { sessionId: 1 } } },
    { method: "state", params: { handle: "nobody", actionId: "a" } },
    { method: "stat", params: { path: ["/"] } },
  ];
  for (const [id, request] of bad.entries()) {
    caller.send({ id, ...request });
    expect(await caller.next()).toEqual({ id, error: { code: "failed", message: expect.any(String) } });
  }
});

test("a silent caller is disconnected; a silent host counts as unreachable", async () => {
  const impatient = await openBench({ serve: { limits: { greetingMs: 50 } } });
  await untilClosed(await openSocket(impatient));
  const bench = await openBench({ serve: { limits: { silentMs: 80 } } });
  const caller = await openRawCaller(bench);
  await caller.greet();
  await caller.closed;
});

test("half-open: a host that stops answering is detected, calls continue on a new connection", async () => {
  const bench = await openBench();
  const remote = await bench.connect({ pingMs: 20, address: await openMuteProxy(bench) });
  const session = await remote.openSession(bench.spec);
  // The proxy forwards the first connection for a moment and then swallows everything without closing it.
  await expect.poll(async () => session.state("a")).toEqual({ type: "unknown" });
});

test("an outcome that is too large for a frame is an error that says so; one below is whole", async () => {
  const bench = await openBench({ serve: { limits: { maxFrameBytes: 20_000 } } });
  const session = await (await bench.connect({ maxFrameBytes: 20_000 })).openSession(bench.spec);
  const secrets = [{ name: "TOKEN", value: "hunter2!" }];
  const execute = async (actionId: string, thought: string) =>
    session.execute({ actionId, tool: "probe", action: { kind: "ThinkAction", thought }, secrets });
  expect(await execute("fits", `say:${"x".repeat(15_000)}`)).toMatchObject({ type: "observation" });
  expect(await execute("answer", `say:${"hunter2!".repeat(1_500)}`)).toMatchObject({
    type: "error",
    text: expect.stringMatching(/^The call has ended, but its result cannot be transferred/),
  });
  expect(await execute("request", `say:${"x".repeat(30_000)}`)).toMatchObject({
    type: "error",
    text: expect.stringMatching(/was not run/),
  });
  expect(await execute("next", "say:next")).toMatchObject({ type: "observation" });
});

test("more requests than a connection may have are refused, not queued", async () => {
  const bench = await openBench({ serve: { limits: { maxRequests: 2 } } });
  const session = await (await bench.connect()).openSession(bench.spec);
  const controller = new AbortController();
  const execute = async (actionId: string) => {
    const action = { kind: "ThinkAction", thought: `hold:${actionId}` } as const;
    return session.execute({ actionId, tool: "probe", action, secrets: [] }, { signal: controller.signal });
  };
  const held = [execute("a"), execute("b")];
  expect(await execute("c")).toMatchObject({
    type: "error",
    text: expect.stringMatching(/answers 2 requests already.*was not run/),
  });
  controller.abort();
  for (const outcome of await Promise.all(held)) expect(outcome).toMatchObject({ type: "cancelled" });
});

test("nobody listens: connecting fails after the configured time", async () => {
  const bench = await openBench();
  await bench.served[Symbol.asyncDispose]();
  await expect(bench.connect({ unavailableMs: 50 })).rejects.toThrow(ToolHostUnreachableError);
});

test("frames arrive whole however they are cut", () => {
  const stream = Buffer.concat([
    encodeMessage({ id: 1, text: "ä".repeat(300) }, 10_000),
    encodeChunkHeader(7, 5),
    Buffer.from("12345"),
    encodeMessage({}, 10_000),
  ]);
  for (let size = 1; size < 40; size += 1) {
    const reader = new FrameReader(10_000);
    const frames: Frame[] = [];
    for (let at = 0; at < stream.length; at += size) {
      frames.push(...reader.push(Buffer.from(stream.subarray(at, at + size))));
    }
    expect(frames).toEqual([
      { type: "message", message: { id: 1, text: "ä".repeat(300) } },
      { type: "chunk", id: 7, bytes: Buffer.from("12345") },
      { type: "message", message: {} },
    ]);
  }
});

test("security 4: a frame with too many values is neither parsed nor sent", () => {
  const max = 64 * 1024 * 1024;
  const text = `{"id":1,"x":[${"[],".repeat(300_000)}[]]}`;
  const frame = Buffer.concat([Buffer.alloc(5), Buffer.from(text)]);
  frame.writeUInt32BE(frame.length - 4);
  frame[4] = 0x4a;
  const reader = new FrameReader(max);
  expect(() => [...reader.push(frame)]).toThrow("A frame holds more values than are read.");
  expect(() => encodeMessage(JSON.parse(text) as object, max)).toThrow(FrameTooLargeError);
  const [whole] = [...new FrameReader(max).push(encodeMessage({ id: 1, x: Array(190_000).fill(1) }, max))];
  expect(whole).toMatchObject({ type: "message", message: { x: { length: 190_000 } } });
});

async function openBench(options: ServedBenchOptions = {}): Promise<ServedBench> {
  const bench = await openServedBench(options);
  onTestFinished(async () => bench[Symbol.asyncDispose]());
  return bench;
}

async function openSocket(bench: ServedBench): Promise<Socket> {
  const socket = connect(parseAddress(bench.served.address));
  socket.on("error", () => {}); // The other side may close it while we write; only the close matters.
  socket.resume();
  await once(socket, "connect");
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** With or without an error before: a write may meet a socket that the other side has just closed. */
async function untilClosed(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
}

/** A raw client: sends a greeting and then whatever the test wants. */
async function openRawCaller(bench: ServedBench, hello: object = {}) {
  const socket = await openSocket(bench);
  const reader = new FrameReader(1_000_000);
  const messages: Readonly<Record<string, unknown>>[] = [];
  const received: string[] = [];
  socket.on("data", (bytes: Buffer) => {
    received.push(bytes.toString("latin1"));
    for (const frame of reader.push(bytes)) if (frame.type === "message") messages.push(frame.message);
  });
  const closed = untilClosed(socket);
  const send = (message: object): void => void socket.write(encodeMessage(message, 1_000_000));
  const next = async () => {
    await expect.poll(() => messages.length, { interval: 2 }).toBeGreaterThan(0);
    return messages.shift();
  };
  send({ protocol: protocolNumber, version: "1.0.0", clientNonce: "n", ...hello });
  return {
    closed,
    send,
    next,
    write: (bytes: Buffer) => void socket.write(bytes),
    received: () => received.join(""),
    greet: async () => {
      const { serverNonce } = (await next()) as { serverNonce: string };
      send({ proof: proveKey(testKey, "client", { clientNonce: "n", serverNonce }) });
      expect(await next()).toMatchObject({ bootId: bench.served.bootId });
    },
  };
}

function pseudoRandomBytes(seed: number, length: number): Buffer {
  return Buffer.from(
    Array.from({ length }, (_, index) => Math.imul(seed * 64 + index + 1, 2_654_435_761) >>> 24),
  );
}

/** A proxy in front of the host. Its first connection turns silent after a while, later ones work. */
async function openMuteProxy(bench: ServedBench): Promise<string> {
  const path = join(bench.dir, "proxy.sock");
  let count = 0;
  const server = createServer((client) => {
    const upstream = connect(parseAddress(bench.served.address));
    const isFirst = (count += 1) === 1;
    client.on("data", (bytes) => upstream.write(bytes));
    let seen = 0;
    upstream.on("data", (bytes) => {
      seen += 1;
      // Greeting, welcome and the opened session; then nothing.
      if (!isFirst || seen <= 3) client.write(bytes);
    });
    for (const socket of [client, upstream]) {
      socket.on("error", () => {}); // Cut on purpose.
      socket.on("close", () => [client, upstream].forEach((end) => end.destroy()));
    }
  });
  server.listen(path);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `unix:${path}`;
}
