import type { Event } from "@convoke/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { EventMeta } from "../events/event-draft.ts";
import { GrowingHistory } from "./growing-history.ts";
import { buildHistory, type ViewEvent } from "./history.ts";
import { text } from "./observation-content.ts";

/** What may happen next; `back` points at earlier things, at ones that a real log would not point at too. */
const step = fc.record({
  what: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom("request", "action", "answer") },
    { weight: 2, arbitrary: fc.constantFrom("user", "spoken", "hidden", "second action") },
    { weight: 1, arbitrary: fc.constantFrom("bad call", "late answer", "error", "condensation", "old turn") },
  ),
  back: fc.nat({ max: 5 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

test("P59: a history that grows is the one that is built from the whole log, at every request", () => {
  let requests = 0;
  fc.assert(
    fc.property(fc.array(step, { size: "max", maxLength: 60 }), (steps) => {
      const growing = new GrowingHistory();
      const writer = new LogWriter();
      for (const item of steps) {
        if (item.what !== "request") {
          writer.write(item);
          continue;
        }
        writer.sawSeq = writer.seq;
        requests += 1;
        const seen = writer.view.filter(({ seq }) => seq <= writer.sawSeq);
        expect(growing.build(writer.view, writer.sawSeq)).toEqual(buildHistory(seen));
      }
    }),
    { numRuns: 400 },
  );
  expect(requests).toBeGreaterThan(2000);
});

test("P59: after a turn that only appends, only the appended part is built", () => {
  const growing = new GrowingHistory();
  const writer = new LogWriter();
  for (let turn = 0; turn < 50; turn += 1) {
    writer.sawSeq = writer.seq;
    const before = growing.build(writer.view, writer.sawSeq);
    for (const what of ["action", "answer"]) writer.write({ what, back: 0 });
    const after = growing.build(writer.view, writer.seq);
    expect(after.slice(0, before.length).every((message, index) => message === before[index])).toBe(true);
    expect(after).toHaveLength(before.length + 2);
  }
});

class LogWriter {
  readonly view: ViewEvent[] = [];
  seq = 0;
  sawSeq = 0;
  #actions: { readonly id: string; readonly callId: string; readonly responseId: string }[] = [];

  write({ what, back }: Step | { readonly what: string; readonly back: number }): void {
    this.seq += 1;
    const id = `e${this.seq}`;
    const add = (event: Record<string, unknown>, meta: EventMeta = {}): void => {
      this.view.push({ seq: this.seq, event: { id, ...event } as unknown as Event, meta });
    };
    const earlier = this.#actions.at(-1 - back) ?? { id: "none", callId: "none", responseId: "none" };
    const last = this.#actions.at(-1) ?? earlier;
    const act = (responseId: string, meta: EventMeta): void => {
      const callId = `call-${back}`;
      this.#actions.push({ id, callId, responseId });
      const call = { id: callId, name: "think", arguments: "{}", origin: "completion" };
      const named = { tool_name: "think", tool_call_id: callId, tool_call: call };
      add({ kind: "ActionEvent", thought: [], action: {}, llm_response_id: responseId, ...named }, meta);
    };
    const observe = (action: typeof last): void => {
      const observation = { kind: "ThinkObservation", content: [text(id)], is_error: false };
      add({ kind: "ObservationEvent", action_id: action.id, tool_call_id: action.callId, observation });
    };
    switch (what) {
      case "action":
        return act(`response-${this.seq}`, { sawSeq: this.sawSeq });
      case "second action":
        return act(last.responseId, {});
      case "old turn":
        return act(earlier.responseId, { sawSeq: Math.max(0, this.sawSeq - back) });
      case "answer":
        return observe(last);
      case "late answer":
        return observe(earlier);
      case "bad call":
        return add({ kind: "AgentErrorEvent", tool_call_id: last.callId, error: id });
      case "error":
        return add(
          { kind: "AgentErrorEvent", tool_call_id: earlier.callId, error: id },
          { answers: earlier.id },
        );
      case "user":
        return add({
          kind: "MessageEvent",
          source: "user",
          llm_message: { role: "user", content: [text(id)] },
        });
      case "spoken":
        return add(
          { kind: "MessageEvent", source: "agent", llm_message: { role: "assistant", content: [text(id)] } },
          { sawSeq: this.sawSeq },
        );
      case "condensation":
        return add({
          kind: "Condensation",
          forgotten_event_ids: this.view.slice(back, back + 3).map(({ event }) => event.id),
          summary: id,
          summary_offset: back,
        });
      default:
    }
  }
}
