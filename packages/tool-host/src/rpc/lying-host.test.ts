import { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { Outcome } from "../host.ts";
import { openLyingHost, type Lie } from "../testing/lying-host.ts";
import { connectToolHost } from "./connect-host.ts";
import { encodeMessage } from "./frames.ts";

const spec = { sessionId: "s", workspaceDir: "/w", stateDir: "/s", environment: {}, tools: [] };
const call = { tool: "probe", actionId: "a", action: { kind: "ThinkAction", thought: "x" }, secrets: [] };
const opened = ({ id, say }: Lie, tools: unknown = []): void =>
  say({ id, result: { tools, recordsId: "r" } });

/** The result of a call to a host that answers like this, and its cost. */
async function execute(
  lie: (lie: Lie) => void,
): Promise<{ outcome: Outcome; seconds: number; megabytes: number }> {
  await using host = await openLyingHost((asked) => {
    if (asked.method === "openSession") opened(asked);
    else if (asked.method === "execute") lie(asked);
    else asked.say({ id: asked.id, result: null });
  });
  const remote = await connectToolHost({ ...host, unavailableMs: 200 });
  try {
    const session = await remote.openSession(spec);
    const [processor, memory] = [process.threadCpuUsage(), process.memoryUsage().rss];
    const outcome = await session.execute(call as never, { onProgress: () => {} });
    const { user, system } = process.threadCpuUsage(processor);
    const megabytes = (process.memoryUsage().rss - memory) / 1e6;
    return { outcome, seconds: (user + system) / 1e6, megabytes };
  } finally {
    remote.detach();
  }
}

const text = { type: "text", text: "x" };
test.each([
  ["nothing", null],
  ["a number", 7],
  ["a list", []],
  ["no type", { text: "done" }],
  ["a type that is not known", { type: "observed", text: "x" }],
  ["an error without a text", { type: "error", text: { a: 1 } }],
  ["no observation", { type: "observation" }],
  ["an observation that is a text", { type: "observation", observation: "x" }],
  ["one without a kind", { type: "observation", observation: { content: [text] } }],
  ["one with content that is no list", { type: "observation", observation: { kind: "K", content: "x" } }],
  [
    "one with a part that is null",
    { type: "observation", observation: { kind: "K", content: [text, null] } },
  ],
  [
    "one with a text that is a number",
    { type: "observation", observation: { kind: "K", content: [{ type: "text", text: 1 }] } },
  ],
  [
    "one with pictures that are no list",
    { type: "observation", observation: { kind: "K", content: [{ type: "image", image_urls: 1 }] } },
  ],
])("hardening 13: an outcome that is %s is an error with words", async (_, result) => {
  const { outcome } = await execute(({ id, say }) => say({ id, result }));
  expect(outcome).toMatchObject({ type: "error", text: expect.stringContaining("unknown form") });
});

test("hardening 13: a valid outcome passes", async () => {
  const observation = {
    kind: "ThinkObservation",
    content: [text, { type: "image", image_urls: ["data:a"] }],
  };
  const { outcome } = await execute(({ id, say }) =>
    say({ id, result: { type: "observation", observation } }),
  );
  expect(outcome).toEqual({ type: "observation", observation });
});

test.each<[string, (lie: Lie) => void]>([
  ["a frame that is too long", ({ write }) => write(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x4a]))],
  ["a frame of no kind", ({ write }) => write(Buffer.from([0, 0, 0, 1, 0x58]))],
  ["a frame that is no JSON", ({ write }) => write(Buffer.from([0, 0, 0, 2, 0x4a, 0x7b]))],
  [
    "a frame of very many values",
    ({ write }) => {
      const body = Buffer.from(`J{"id":1,"result":[${"[],".repeat(2_000_000)}[]]}`);
      const head = Buffer.alloc(4);
      head.writeUInt32BE(body.length);
      write(Buffer.concat([head, body]));
    },
  ],
  ["a message without an id", ({ say }) => say({ result: 1 })],
  ["a fraction as credit", ({ id, say }) => say({ id, credit: 0.5 })],
  ["a negative credit", ({ id, say }) => say({ id, credit: -1 })],
])("hardening 13: %s ends the connection, and the call with words", async (_, lie) => {
  const { outcome, seconds, megabytes } = await execute(lie);
  expect(outcome).toMatchObject({ type: "error", text: expect.stringMatching(/unknown|not run|reached/) });
  expect(seconds).toBeLessThan(2);
  expect(megabytes).toBeLessThan(300);
});

test("hardening 13: a flood of progress, of unrequested answers, and of chunks of no stream costs only what reading takes", async () => {
  const { outcome, seconds } = await execute(({ id, say, write }) => {
    const flood = [
      { id, progress: "x" },
      { id: 999_999, result: {} },
      { id: 999_998, end: true },
    ].map((message) => encodeMessage(message, 1_000));
    write(Buffer.concat(Array.from({ length: 20_000 }, () => flood).flat()));
    say({ id, result: { type: "error", text: "done" } });
  });
  expect(outcome).toEqual({ type: "error", text: "done" });
  expect(seconds).toBeLessThan(3);
});

test("hardening 13: a host that sends more than it is allowed to is cut off", async () => {
  await using host = await openLyingHost(({ id, method, say, stream, socket }) => {
    if (method !== "readFile") return;
    say({ id, result: { sizeBytes: 1e9, type: "file" } });
    for (let times = 0; times < 200 && !socket.destroyed; times++) stream(Buffer.alloc(100_000));
  });
  const remote = await connectToolHost({ ...host, unavailableMs: 200 });
  const { content } = await remote.workspace.readFile("/x");
  await expect.poll(() => content.destroyed).toBe(true);
  await expect(content.toArray()).rejects.toThrow();
  remote.detach();
});

test("hardening 13: a file ends where its host said, even if the host goes on", async () => {
  await using host = await openLyingHost(({ id, method, say, stream }) => {
    if (method !== "readFile") return;
    say({ id, result: { sizeBytes: 10, type: "file" } });
    stream(Buffer.alloc(1_000));
  });
  const remote = await connectToolHost({ ...host, unavailableMs: 200 });
  const { content } = await remote.workspace.readFile("/x");
  expect(Buffer.concat(await content.toArray())).toHaveLength(10);
  remote.detach();
});

test("hardening 13: a host that gives credit in fractions of a byte does not keep the server busy", async () => {
  await using host = await openLyingHost(({ id, method, say }) => {
    if (method !== "writeFile") return;
    setTimeout(() => say({ id, credit: 0.5 }), 50);
  });
  const remote = await connectToolHost({ ...host, unavailableMs: 200 });
  const writing = remote.workspace.writeFile("/x", Readable.from([Buffer.alloc(3_000_000)]));
  await expect(writing).rejects.toThrow();
  remote.detach();
});

test.each([7, "x", null, [7], [{ name: 7 }], [null]])(
  "hardening 13: tools that are %j open no session",
  async (tools) => {
    await using host = await openLyingHost((asked) => opened(asked, tools));
    const remote = await connectToolHost({ ...host, unavailableMs: 200 });
    await expect(remote.openSession(spec)).rejects.toThrow();
    remote.detach();
  },
);
