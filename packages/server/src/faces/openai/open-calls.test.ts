import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { OpenCalls } from "./open-calls.ts";

const action = (id: string, kind: string) =>
  ({ kind: "ActionEvent", id, tool_call_id: `call-${id}`, action: { kind } }) as unknown as Event;
const ofClient = (id: string) => action(id, "ClientAction_weather");
const ofServer = (id: string) => action(id, "TerminalAction");
const pending = (id: string) =>
  ({
    kind: "ConversationStateUpdateEvent",
    key: "pending_tool_call",
    value: { action_id: id },
  }) as unknown as Event;
const answer = (id: string) => ({ kind: "ObservationEvent", action_id: id }) as unknown as Event;

/** The index of the first event after which the run waits for the client; -1 for none. */
const waitsAfter = (...events: readonly Event[]): number => {
  const calls = new OpenCalls();
  return events.findIndex((event) => calls.add(event));
};

test("client tools: a response waits for its calls that are not handed over yet, and not for calls behind one of the server", () => {
  expect(waitsAfter(ofClient("a"), ofClient("b"), pending("a"), pending("b"))).toBe(3);
  // The call of the server begins once the client has answered.
  expect(waitsAfter(ofClient("a"), ofServer("b"), ofClient("c"), pending("a"))).toBe(3);
  expect(waitsAfter(ofServer("a"), ofClient("b"), answer("a"), pending("b"))).toBe(3);
  expect(waitsAfter(ofClient("a"), ofClient("b"), pending("a"), answer("a"))).toBe(-1);
});
