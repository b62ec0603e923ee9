import { expect, test } from "vitest";
import type { ConnectionChange } from "./connection-change.ts";
import { ConvokeClient } from "./convoke-client.ts";
import type { FollowItem, FollowOptions } from "./follow.ts";

/** A socket whose server is played by the test. */
class PlayedSocket extends EventTarget {
  readonly url: string;
  readonly sent: string[] = [];
  constructor(url: string) {
    super();
    this.url = url;
  }
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {}
  open(): void {
    this.dispatchEvent(new Event("open"));
  }
  give(frame: object): void {
    this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(frame) }));
  }
  end(code: number, reason = ""): void {
    const event = new Event("close");
    this.dispatchEvent(Object.assign(event, { code, reason }));
  }
}

type Play = (socket: PlayedSocket, count: number) => void;

/** Follows a stream until it ends. `play` answers each connection. */
async function follow(play: Play, options: FollowOptions = {}, reply = () => Response.json({})) {
  const sockets: PlayedSocket[] = [];
  const changes: ConnectionChange[] = [];
  const items: FollowItem[] = [];
  const client = new ConvokeClient({
    baseUrl: "http://server",
    proof: "half",
    fetch: async () => reply(),
    WebSocket: class extends PlayedSocket {
      constructor(url: string) {
        super(url);
        sockets.push(this);
        queueMicrotask(() => play(this, sockets.length));
      }
    } as unknown as typeof WebSocket,
  });
  let error: unknown = null;
  try {
    const stream = client.follow("c", {
      afterEventId: "e0",
      backOffMs: { first: 1, max: 1 },
      ...options,
      onConnection: (change) => {
        changes.push(change);
        options.onConnection?.(change);
      },
    });
    for await (const item of stream) {
      items.push(item);
      if (item.type === "event" && item.event.id === "last") break;
    }
  } catch (reason) {
    error = reason;
  }
  return { sockets, changes, items, error };
}

const event = (id: string): object => ({ id, kind: "PauseEvent", source: "user" });

test("P1: a new connection goes on behind the last event; what has no id is a signal and no cursor", async () => {
  const { sockets, items, changes } = await follow((socket, count) => {
    socket.open();
    if (count === 2) socket.give(event("last"));
    if (count === 2) return;
    socket.give({ kind: "Heartbeat" });
    socket.give(event("e1"));
    const delta = {
      kind: "AnswerDelta",
      answer_id: "a",
      seq: 1,
      item: { type: "text", index: 0 },
      text: "x",
    };
    socket.give(delta);
    socket.give({ kind: "Pieces", frames: [delta, { ...delta, kind: "AnswerEnd" }] });
    socket.give({ kind: "NewerThanThisClient", value: 1 });
    socket.end(1011, "Internal error");
  });
  expect(items.map((item) => (item.type === "event" ? item.event.id : item.frame["kind"]))).toEqual([
    "e1",
    "AnswerDelta",
    "AnswerDelta",
    "AnswerEnd",
    "NewerThanThisClient",
    "last",
  ]);
  expect(sockets.map(({ url }) => new URL(url).searchParams.get("after_event_id"))).toEqual(["e0", "e1"]);
  expect(sockets[0]!.sent).toEqual(['{"type":"auth","proof":"half"}']);
  expect(changes.map(({ state, reason }) => [state, reason])).toEqual([
    ["connecting", null],
    ["connected", null],
    ["lost", { type: "closed", code: 1011, text: "Internal error" }],
    ["connecting", null],
    ["connected", null],
    ["ended", { type: "aborted" }],
  ]);
  const lost = changes[2]!;
  expect(lost.retryAtMs! - lost.atMs).toBeLessThanOrEqual(1);
});

test.each([
  [4001, "Authentication failed", 401],
  [4003, "", 403],
  [4004, "Conversation not found", 404],
  [4022, "after_event_id names no event of this conversation", 422],
])("a socket closed with %i ends the stream, and says why", async (code, text, status) => {
  const { error, changes } = await follow((socket) => {
    socket.open();
    socket.end(code, text);
  });
  const message = text === "" ? `The server closed the socket with code ${code}.` : `${text}.`;
  expect(error).toMatchObject({ name: "ApiError", status, message });
  expect(changes.at(-1)).toMatchObject({ state: "ended", reason: { type: "refused", error: { status } } });
});

test("a client that was too slow, and one at a server that ends, connect again", async () => {
  const { sockets, error } = await follow((socket, count) => {
    socket.open();
    if (count < 3) socket.end(count === 1 ? 4008 : 1001);
    else socket.give(event("last"));
  });
  expect(error).toBe(null);
  expect(sockets).toHaveLength(3);
});

test("a handshake that is refused is explained over HTTP: for good, for now, or sockets alone", async () => {
  const refusals = [
    () => Response.json({ detail: "No key." }, { status: 401 }),
    () => Response.json({}, { status: 503 }),
    () => Response.json({ detail: "Slower." }, { status: 429 }),
    () => Response.json({}),
  ];
  const ends = [];
  for (const reply of refusals) {
    const { changes, error } = await follow(
      (socket, count) => (count === 1 ? socket.end(1006) : socket.give(event("last"))),
      {},
      reply,
    );
    ends.push(error === null ? changes[1]!.reason!.type : (error as { status: number }).status);
  }
  expect(ends).toEqual([401, "unreachable", "unreachable", "no_socket"]);
});

test("retryNow ends a wait, and is given back at the end", async () => {
  let wake = (): void => {};
  let isGivenBack = false;
  const { sockets } = await follow(
    (socket, count) => {
      socket.open();
      if (count === 1) socket.end(1006);
      else socket.give(event("last"));
    },
    {
      backOffMs: { first: 600_000, max: 600_000 },
      retryNow: (wakeUp) => {
        wake = wakeUp;
        return () => (isGivenBack = true);
      },
      onConnection: ({ state }) => state === "lost" && queueMicrotask(() => wake()),
    },
  );
  expect(sockets).toHaveLength(2);
  expect(isGivenBack).toBe(true);
});

test("retryNow replaces a connection that was silent for half of its time, and no other", async () => {
  let wake = (): void => {};
  const { changes } = await follow(
    (socket, count) => {
      socket.open();
      if (count === 2) socket.give(event("last"));
      if (count === 1) wake();
      const later = (): void => (performance.now() - startedMs > 25 ? wake() : void setImmediate(later));
      const startedMs = performance.now();
      if (count === 1) later();
    },
    { deadAfterMs: 50_000 / 1_000, retryNow: (wakeUp) => ((wake = wakeUp), () => {}) },
  );
  expect(changes.find(({ state }) => state === "lost")!.reason).toEqual({ type: "silent" });
});
