import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { TestSocket } from "../../testing/test-socket.ts";

type Frame = Record<string, unknown>;

async function startStreaming(server: TestServer): Promise<string> {
  const llm = {
    model: "openai/scripted",
    base_url: `${server.model.url}/v1`,
    api_key: "llm-key",
    stream: true,
    num_retries: 2,
    retry_min_wait: 0,
    retry_max_wait: 0,
  };
  const { id } = await server.createConversation({
    agent: { kind: "Agent", llm, tools: [{ name: "terminal" }] },
    secrets: { KEY: { kind: "StaticSecret", value: "canary-7f3a-secret" } },
  });
  await server.client.sendMessage(id, { content: [{ type: "text", text: "Go." }], run: false });
  return id;
}

async function listen(server: TestServer, id: string, query = ""): Promise<TestSocket> {
  const socket = new TestSocket(`${server.url}/sockets/events/${id}?session_api_key=${server.key}${query}`);
  await socket.opened;
  await socket.untilCount(1);
  return socket;
}

const finished = (frames: readonly Frame[]): boolean =>
  frames.some(({ key, value }) => key === "execution_status" && value === "finished");

/** The pieces of each item of each answer, joined, and how each answer ended. */
function answersIn(frames: readonly Frame[]): object[] {
  const answers = new Map<unknown, { items: Record<string, string>; end: unknown; seqs: unknown[] }>();
  for (const { kind, answer_id: answerId, seq, item, text, outcome } of frames) {
    if (kind !== "AnswerDelta" && kind !== "AnswerEnd") continue;
    const answer = answers.get(answerId) ?? { items: {}, end: null, seqs: [] };
    answers.set(answerId, answer);
    answer.seqs.push(seq);
    if (kind === "AnswerEnd") answer.end = outcome;
    else {
      const { type, index, name = "" } = item as { type: string; index: number; name?: string };
      const of = `${type} ${index} ${name}`.trim();
      answer.items[of] = (answer.items[of] ?? "") + String(text);
    }
  }
  return [...answers.values()].map(({ items, end, seqs }) => {
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    return { items, end };
  });
}

test("L23.20: who asks for items gets each piece with its answer, item and number, arguments of calls too; others get the contract's form", async () => {
  const script = {
    turns: [
      {
        reasoning: "What is there?",
        text: "Looking.",
        tool_calls: [
          { name: "terminal", arguments: { command: "echo canary-7f3a-secret" } },
          { name: "terminal", arguments: { command: "b" } },
        ],
        chunk_size: 4,
      },
      { text: "Half of it is lost.", chunk_size: 4, cut_after_bytes: 600, attempts: 1 },
    ],
  };
  await using server = await startTestServer({ script });
  const id = await startStreaming(server);
  using plain = await listen(server, id);
  using itemised = await listen(server, id, "&deltas=items");
  using together = await listen(server, id, "&deltas=items&beat=1000");
  await server.client.run(id);
  await Promise.all([plain, itemised, together].map((socket) => socket.until(finished)));

  const deltas = plain.events.filter(({ kind }) => kind === "StreamingDeltaEvent");
  const fields = new Set(deltas.flatMap((frame) => Object.keys(frame)));
  expect([...fields].toSorted()).toEqual(
    ["content", "id", "kind", "reasoning_content", "source", "timestamp"].toSorted(),
  );
  expect(deltas.map(({ reasoning_content: text }) => (typeof text === "string" ? text : "")).join("")).toBe(
    "What is there?",
  );
  expect(plain.events.some(({ kind }) => String(kind).startsWith("Answer"))).toBe(false);
  expect(itemised.events.some(({ kind }) => kind === "StreamingDeltaEvent")).toBe(false);

  const [first, ...others] = answersIn(itemised.events);
  expect(first).toEqual({
    items: {
      "reasoning 0": "What is there?",
      "text 0": "Looking.",
      "tool_call 0 terminal": '{"command":"echo <secret-hidden>"}',
      "tool_call 1 terminal": '{"command":"b"}',
    },
    end: "done",
  });
  expect(others).toMatchObject([
    { end: "void" },
    { items: { "text 0": "Half of it is lost." }, end: "done" },
  ]);
  // Pieces that come together are the same ones, and in the same places between what is stored.
  const unpacked = together.events.flatMap((frame) =>
    frame["kind"] === "Pieces" ? (frame["frames"] as Frame[]) : [frame],
  );
  expect(answersIn(unpacked)).toEqual(answersIn(itemised.events));
  // What follows the end of the run comes in its own time.
  const placesOf = (frames: readonly Frame[]) =>
    frames
      .slice(0, frames.findIndex((frame) => finished([frame])) + 1)
      .filter(({ key }) => key !== "full_state")
      .map(({ kind, id: eventId, seq }) => [kind, eventId, seq]);
  expect(placesOf(unpacked)).toEqual(placesOf(itemised.events));
  expect(together.events.length).toBeLessThan(itemised.events.length / 2);
  using wrong = new TestSocket(`${server.url}/sockets/events/${id}?beat=7&session_api_key=${server.key}`);
  expect(await wrong.opened).toBe(403);
  // The end of an answer names the events that hold it.
  const action = (await server.events(id)).find((event) => event.kind === "ActionEvent");
  const end = itemised.events.find(({ kind }) => kind === "AnswerEnd");
  expect(end?.["llm_response_id"]).toBe(action?.llm_response_id);
});
