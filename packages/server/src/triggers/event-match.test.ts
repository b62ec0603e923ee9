import type { EventTrigger } from "@convoke/protocol";
import { expect, test } from "vitest";
import { samplePlan } from "../automations/contract.ts";
import {
  eventPayload,
  isStartedBy,
  refusalAt,
  type ConversationFacts,
  type EventAutomation,
} from "./event-match.ts";

const conversation: ConversationFacts = {
  id: "c1",
  ownerId: "ada",
  title: "Nightly",
  tags: { team: "search" },
  workingDir: "/srv/app",
  isTask: false,
  automationId: null,
  depth: 0,
};
const ended = {
  id: "e1",
  kind: "ConversationStateUpdateEvent",
  status: "finished",
  timestamp: "2026-01-01T00:00:00",
  atMs: 1_000,
};

function automation(trigger: Partial<EventTrigger> = {}): EventAutomation {
  return {
    ...samplePlan,
    trigger: { kind: "event", statuses: ["finished"], ...trigger },
    id: "a1",
    ownerId: "ada",
    version: 1,
    isPaused: false,
    hasHookSecret: false,
    nextDueMs: null,
    createdAtMs: 500,
    updatedAtMs: 500,
  };
}

test("an event counts by its status or its kind, from the creation of the automation on", () => {
  expect(isStartedBy(automation(), conversation, ended)).toBe(true);
  expect(isStartedBy(automation(), conversation, { ...ended, status: "error" })).toBe(false);
  expect(isStartedBy(automation(), conversation, { ...ended, atMs: 499 })).toBe(false);
  const failed = { ...ended, kind: "ConversationErrorEvent", status: null };
  expect(isStartedBy(automation(), conversation, failed)).toBe(false);
  const ofKind = automation({ statuses: [], event_kinds: ["ConversationErrorEvent"] });
  expect(isStartedBy(ofKind, conversation, failed)).toBe(true);
  expect(isStartedBy(ofKind, conversation, ended)).toBe(false);
});

test("a conversation counts by its owner, its id and its tags; a sub-agent does not", () => {
  const counts = (trigger: Partial<EventTrigger>, more: Partial<ConversationFacts> = {}) =>
    isStartedBy(automation(trigger), { ...conversation, ...more }, ended);
  expect(counts({}, { ownerId: "bob" })).toBe(false);
  expect(counts({}, { isTask: true })).toBe(false);
  expect([counts({ conversation_id: "c1" }), counts({ conversation_id: "c2" })]).toEqual([true, false]);
  expect([counts({ tag: "team" }), counts({ tag: "team:search" })]).toEqual([true, true]);
  expect([counts({ tag: "team:docs" }), counts({ tag: "toString" })]).toEqual([false, false]);
});

test("what automations started counts for those that name the automation, and never for the automation itself", () => {
  const started = (by: string) => ({ ...conversation, automationId: by, depth: 1 });
  expect(isStartedBy(automation(), started("a2"), ended)).toBe(false);
  expect(isStartedBy(automation({ automation_id: "a2" }), started("a2"), ended)).toBe(true);
  expect(isStartedBy(automation({ automation_id: "a2" }), conversation, ended)).toBe(false);
  expect(isStartedBy(automation({ automation_id: "a1" }), started("a1"), ended)).toBe(false);
});

test("a chain ends after three conversations", () => {
  expect(eventPayload(conversation, ended)).toMatchObject({ status: "finished", depth: 1 });
  expect([0, 1, 2].map((depth) => refusalAt({ depth }))).toEqual([null, null, null]);
  expect(refusalAt({ depth: 3 })).toMatch(/longer chain/);
});
