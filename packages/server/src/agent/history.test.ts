import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import type { EventMeta } from "../events/event-draft.ts";
import { buildHistory, type ViewEvent } from "./history.ts";
import { condensedView, idInLog } from "./history-view.ts";
import { text } from "./observation-content.ts";

type Partial = { readonly kind: Event["kind"] } & Record<string, unknown>;

/** A log whose seqs are the positions, from 1. */
function log(...items: readonly [Partial, EventMeta?][]): ViewEvent[] {
  return items.map(([event, meta = {}], index) => ({
    seq: index + 1,
    event: { id: `e${index + 1}`, ...event } as unknown as Event,
    meta,
  }));
}

const system: Partial = {
  kind: "SystemPromptEvent",
  system_prompt: text("static"),
  dynamic_context: text("dynamic"),
  tools: [],
};

const user = (words: string): Partial => ({
  kind: "MessageEvent",
  source: "user",
  llm_message: { role: "user", content: [text(words)] },
});

function action(id: string, responseId: string, raw = "{}"): Partial {
  return {
    kind: "ActionEvent",
    source: "agent",
    thought: [],
    thinking_blocks: [],
    action: { kind: "ThinkAction", thought: "x" },
    tool_name: "think",
    tool_call_id: id,
    tool_call: { id, name: "think", arguments: raw, origin: "completion" },
    llm_response_id: responseId,
  };
}

const observation = (actionId: string, callId: string, words: string): Partial => ({
  kind: "ObservationEvent",
  action_id: actionId,
  tool_name: "think",
  tool_call_id: callId,
  observation: { kind: "ThinkObservation", content: [text(words)], is_error: false },
});

test("K18: no colours or other control sequences reach the model, whatever their source; the log has them", () => {
  const red = "\u001b[31mred\u001b[0m\u0007";
  const events = log(
    [system],
    [user(red)],
    [action("c1", "r1")],
    [action("c2", "r1")],
    [action("c3", "r1")],
    [action("c4", "r1")],
    [observation("e3", "c1", red)],
    [{ kind: "AgentErrorEvent", tool_name: "think", tool_call_id: "c2", error: red }, { answers: "e4" }],
    [{ kind: "UserRejectObservation", action_id: "e5", tool_call_id: "c3", rejection_reason: red }],
    [
      {
        ...observation("e6", "c4", ""),
        observation: {
          kind: "TerminalObservation",
          content: [text(red)],
          metadata: { exit_code: 0, prefix: "\u001b[1m", suffix: red, working_dir: "/w" },
        },
      },
    ],
  );
  const before = structuredClone(events);
  const seen = JSON.stringify(buildHistory(events));
  expect(seen).not.toMatch(/\\u00|\[\d*m/u);
  expect(seen.match(/red/gu)).toHaveLength(6);
  expect(events).toEqual(before);
});

/** Roles with what matters of each message. */
function outline(events: readonly ViewEvent[]): string[] {
  return buildHistory(events).map((message) => {
    switch (message.role) {
      case "assistant":
        return `assistant ${message.toolCalls.map((call) => call.id).join(",")}`;
      case "tool":
        return `tool ${message.toolCallId} ${(message.content[0] as { text: string }).text}`;
      default:
        return `${message.role} ${(message.content[0] as { text: string }).text}`;
    }
  });
}

test("L23.24: a turn is rebuilt by its response id, its results follow in the order of the calls", () => {
  const events = log(
    [system],
    [user("go")],
    [action("a", "r1"), { sawSeq: 2 }],
    [{ ...action("bad", "r1", "not json"), action: null }],
    [{ kind: "AgentErrorEvent", tool_name: "think", tool_call_id: "bad", error: "bad arguments" }],
    [action("c", "r1")],
    [observation("e6", "c", "third")],
    [observation("e3", "a", "first")],
  );
  expect(outline(events)).toEqual([
    "system static",
    "user go",
    "assistant a,bad,c",
    "tool a first",
    "tool bad bad arguments",
    "tool c third",
  ]);
});

test("a message that arrived during a request comes after that request's turn, so the text only grows at its end", () => {
  const events = log(
    [user("go")],
    [user("while you think")],
    [action("a", "r1"), { sawSeq: 1 }],
    [user("while it runs")],
    [observation("e3", "a", "done")],
    [action("b", "r2"), { sawSeq: 5 }],
    [observation("e6", "b", "done too")],
  );
  expect(outline(events)).toEqual([
    "user go",
    "assistant a",
    "tool a done",
    "user while you think",
    "user while it runs",
    "assistant b",
    "tool b done too",
  ]);
  const before = outline(events.slice(0, 5));
  expect(outline(events).slice(0, before.length)).toEqual(before);
});

test("P12, L23.33: arguments are replayed byte for byte; text that is no JSON object is wrapped, the log keeps it", () => {
  const raw = '{"thought" :  "x\\u00e9", "n": 1.0}';
  const [, good, , bad] = buildHistory(
    log(
      [user("go")],
      [action("a", "r1", raw), { sawSeq: 1 }],
      [observation("e2", "a", "")],
      [{ ...action("b", "r2", "{oops"), action: null }, { sawSeq: 3 }],
    ),
  );
  expect(good).toMatchObject({ toolCalls: [{ arguments: raw }] });
  expect(bad).toMatchObject({ toolCalls: [{ arguments: '{"malformed_arguments":"{oops"}' }] });
});

test("L23.26, L23.27: an unanswered call and an empty result still answer the provider", () => {
  const events = log(
    [user("go")],
    [action("a", "r1"), { sawSeq: 1 }],
    [action("b", "r1")],
    [{ ...observation("e3", "b", ""), observation: { kind: "ThinkObservation", content: [] } }],
  );
  expect(outline(events)).toEqual([
    "user go",
    "assistant a,b",
    "tool a (no result yet)",
    "tool b (no output)",
  ]);
});

test("rejections and errors tell the model what happened", () => {
  const events = log(
    [user("go")],
    [action("a", "r1"), { sawSeq: 1 }],
    [
      {
        kind: "UserRejectObservation",
        action_id: "e2",
        tool_name: "think",
        tool_call_id: "a",
        rejection_reason: "not now",
      },
    ],
  );
  expect(outline(events).at(-1)).toBe("tool a This call was rejected and did not run. Reason: not now");
});

test("a condensation hides what it forgot and puts its summary where it says", () => {
  const events = log(
    [system],
    [user("one")],
    [user("two")],
    [user("three")],
    [
      {
        kind: "Condensation",
        forgotten_event_ids: ["e2", "e3"],
        summary: "one and two",
        summary_offset: 1,
        llm_response_id: "r",
      },
    ],
    [user("four")],
  );
  const [prompt, summary, ...rest] = outline(events);
  expect([prompt, ...rest]).toEqual(["system static", "user three", "user four"]);
  expect(summary).toMatch(/^user <conversation_notes>\n[^\n]+\n\none and two\n<\/conversation_notes>$/u);
});

test("P57: the event of a summary stands where its condensation put it, and is forgotten by its own id", () => {
  const condensation = (ids: string[], summary: string): [Partial] => [
    {
      kind: "Condensation",
      forgotten_event_ids: ids,
      summary,
      summary_offset: 1,
      llm_response_id: "r",
    },
  ];
  const events = log(
    [system],
    [user("one")],
    [user("two")],
    condensation(["e2"], "one"),
    [{ kind: "CondensationSummaryEvent", summary: "one" }],
    [user("three")],
    condensation(["e5", "e3"], "one, two"),
    [{ kind: "CondensationSummaryEvent", summary: "one, two" }],
  );
  const idsOf = (view: readonly ViewEvent[]) => condensedView(view).map(({ event }) => event.id);
  expect(idsOf(events.slice(0, 6))).toEqual(["e1", "e5", "e3", "e6"]);
  expect(idsOf(events)).toEqual(["e1", "e8", "e6"]);
  // Whoever went back to the condensation itself has no event of its summary, and forgets the condensation.
  const before = events.slice(0, 4);
  expect(condensedView(before).map(({ event }) => idInLog(event))).toEqual(["e1", "e4", "e3"]);
  expect(idsOf([...before, ...log([user("four")], condensation(["e4", "e3"], "all")).slice(1)])).toEqual([
    "e1",
    "e2-summary",
  ]);
  // The words and their place are the same with the event and without.
  const older = events.filter(({ event }) => event.kind !== "CondensationSummaryEvent").slice(0, 5);
  expect(buildHistory(older)).toEqual(buildHistory(events.slice(0, 6)));
});

test("the first result of a call wins", () => {
  const events = log(
    [user("go")],
    [action("a", "r1"), { sawSeq: 1 }],
    [observation("e2", "a", "first")],
    [{ kind: "AgentErrorEvent", tool_name: "think", tool_call_id: "a", error: "late" }, { answers: "e2" }],
  );
  expect(outline(events)).toEqual(["user go", "assistant a", "tool a first"]);
});
