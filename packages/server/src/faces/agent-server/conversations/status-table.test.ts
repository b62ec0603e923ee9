import { randomUUID } from "node:crypto";
import type { Event } from "@convoke/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Script } from "../../../testing/scripted-model/script.ts";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { until } from "../../../testing/until.ts";

/**
 * What every operation does in every state of a conversation. The reference's behaviour with its faults
 * mended: a message never approves (W2), nothing strands (W3), a pause holds (W4).
 */
const states = [
  "idle",
  "running (model)",
  "running (tool)",
  "paused",
  "pausing (model)",
  "waiting",
  "finished",
  "error",
  "stuck",
] as const;
type State = (typeof states)[number];

/** The model reacts to what the user said: one word brings a conversation into each state. */
const script: Script = {
  turns: [
    { match: { last_user_contains: "GO:model" }, hang: true },
    {
      match: { last_user_contains: "GO:tool" },
      tool_calls: [{ name: "terminal", arguments: { command: "hold on" } }],
    },
    {
      match: { last_user_contains: "GO:wait" },
      tool_calls: [{ name: "terminal", arguments: { command: "rm it" } }],
    },
    { match: { last_user_contains: "GO:error" }, error: { status: 400, message: "no such model" } },
    // It goes on after it was told that it repeats itself.
    ...["GO:stuck", "going in circles"]
      .flatMap((words) => Array.from({ length: 6 }, () => words))
      .map((words) => ({
        match: { last_user_contains: words },
        tool_calls: [{ name: "terminal", arguments: { command: "same" } }],
      })),
    { text: "Fine." },
  ],
  loop: true,
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ script });
});
afterAll(() => server[Symbol.asyncDispose]());

const word: Record<State, string> = {
  idle: "",
  "running (model)": "GO:model",
  "running (tool)": "GO:tool",
  paused: "",
  "pausing (model)": "GO:model",
  waiting: "GO:wait",
  finished: "GO:finish",
  error: "GO:error",
  stuck: "GO:stuck",
};

async function bringTo(state: State): Promise<string> {
  const policy = { kind: state === "waiting" ? "AlwaysConfirm" : "NeverConfirm" } as const;
  // The counters of the server would count what conversations of earlier tests do.
  const text = word[state] === "" ? "" : `${word[state]} ${randomUUID()}`;
  const { id } = await server.createConversation({
    confirmation_policy: policy,
    ...(text === "" ? {} : { text }),
  });
  if (state === "running (tool)") {
    await until(async () => (await server.client.searchEvents(id, { kind: "ActionEvent" })).items.length > 0);
  }
  if (word[state] === "GO:model")
    await until(() => server.model.requests.some((request) => request.text.includes(text)));
  if (state === "paused") await server.client.sendMessage(id, { content: [{ type: "text", text: "later" }] });
  if (state.startsWith("paus")) await server.client.pause(id);
  await server.waitForStatus(id, statusOf(state));
  return id;
}

function statusOf(state: State): string {
  if (state.startsWith("running")) return "running";
  if (state.startsWith("paus")) return "paused";
  return state === "waiting" ? "waiting_for_confirmation" : state;
}

type Operation = { readonly method: string; readonly rest: string; readonly body?: unknown };
const operations = {
  message: { method: "POST", rest: "/events", body: { content: "note" } },
  "message, run": { method: "POST", rest: "/events", body: { content: "please", run: true } },
  run: { method: "POST", rest: "/run" },
  accept: { method: "POST", rest: "/events/respond_to_confirmation", body: { accept: true } },
  reject: {
    method: "POST",
    rest: "/events/respond_to_confirmation",
    body: { accept: false, reason: "not this" },
  },
  pause: { method: "POST", rest: "/pause" },
  interrupt: { method: "POST", rest: "/interrupt" },
  stop: { method: "POST", rest: "/stop" },
  patch: { method: "PATCH", rest: "", body: { title: "New", tags: { a: "b" } } },
  policy: { method: "POST", rest: "/confirmation_policy", body: { policy: { kind: "ConfirmRisky" } } },
} as const satisfies Record<string, Operation>;

/** Something is in progress, whatever the status says. */
const working = new Set<State>(["running (model)", "running (tool)", "pausing (model)"]);

/** What the log gains at once, in short: `status:x` for a change of status, else kinds. */
type Row = Record<State, string>;

const message = "MessageEvent last_user_message_id";
const pausing = "status:paused PauseEvent";
const everywhere = (events: string): Row => Object.fromEntries(states.map((state) => [state, events])) as Row;

const table: Record<keyof typeof operations, Row> = {
  message: {
    ...everywhere(message),
    idle: `SystemPromptEvent ${message}`,
    finished: `status:idle ${message}`,
    stuck: `status:idle ${message}`,
  },
  "message, run": {
    idle: `SystemPromptEvent ${message} status:running`,
    "running (model)": message,
    "running (tool)": message,
    paused: `${message} status:running`,
    "pausing (model)": `${message} status:running`,
    waiting: message,
    finished: `status:idle ${message} status:running`,
    error: `${message} status:running`,
    stuck: `status:idle ${message} status:running`,
  },
  run: {
    ...everywhere("status:running"),
    "running (model)": "409",
    "running (tool)": "409",
    finished: "",
  },
  accept: {
    ...everywhere("status:running"),
    "running (model)": "",
    "running (tool)": "",
    finished: "",
  },
  reject: {
    ...everywhere(""),
    "running (model)": "409",
    "running (tool)": "409",
    waiting: "status:idle UserRejectObservation",
  },
  pause: { ...everywhere(""), idle: pausing, "running (model)": pausing, "running (tool)": pausing },
  interrupt: {
    ...everywhere(""),
    idle: pausing,
    "running (model)": "status:paused InterruptEvent",
    "running (tool)": "AgentErrorEvent status:paused InterruptEvent",
    "pausing (model)": "InterruptEvent",
  },
  stop: {
    ...everywhere(""),
    "running (model)": pausing,
    "running (tool)": `AgentErrorEvent ${pausing}`,
    "pausing (model)": "PauseEvent",
  },
  patch: everywhere("title tags"),
  policy: everywhere("confirmation_policy"),
};

for (const [name, row] of Object.entries(table) as [keyof typeof operations, Row][]) {
  describe(name, () => {
    test.each(states)("%s", async (state) => {
      const id = await bringTo(state);
      const before = await server.client.countEvents(id);
      const { method, rest, body }: Operation = operations[name];
      const reply = await server.call(method, `/api/conversations/${id}${rest}`, body);
      const events = (await server.client.searchEvents(id)).items.slice(before);
      const expected = row[state];
      if (expected === "409") {
        expect(reply.status).toBe(409);
        expect(reply.json).toMatchObject({ code: "already_running" });
        expect(events).toEqual([]);
        return;
      }
      expect(reply.status).toBe(200);
      // What a call that was cut off has cost comes when it has ended.
      const gained = events
        .map(inShort)
        .filter((short) => short !== "stats" || expected.includes("stats"))
        .join(" ");
      // A run that was started may have gone on already.
      if (expected.endsWith("status:running")) expect(gained.startsWith(expected), gained).toBe(true);
      else expect(gained).toBe(expected);
      if (name === "stop") {
        expect(reply.json).toMatchObject({
          conversation_status: working.has(state) ? "RUNNING" : "STOPPED",
        });
      }
    });
  });
}

test.each(states)("delete in %s: 200, then 404, and the workspace stays", async (state) => {
  const id = await bringTo(state);
  const path = `/api/conversations/${id}`;
  expect((await server.call("DELETE", path)).status).toBe(200);
  expect((await server.call("DELETE", path)).status).toBe(404);
  expect((await server.call("GET", `${path}/events/search`)).status).toBe(404);
});

test("deleting twice at once is done once", async () => {
  const id = await bringTo("running (tool)");
  const replies = await Promise.all([1, 2, 3].map(() => server.call("DELETE", `/api/conversations/${id}`)));
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(server.log.filter(({ level }) => level === "error")).toEqual([]);
});

function inShort(event: Event): string {
  if (event.kind !== "ConversationStateUpdateEvent") return event.kind;
  return event.key === "execution_status" ? `status:${String(event.value)}` : String(event.key);
}
