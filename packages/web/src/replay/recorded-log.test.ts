import { expect, test } from "vitest";
import { SampleLog } from "@convoke/client/testing";
import { escapeJson, readEvents } from "../log/replay-facts.ts";
import { RecordedLog } from "./recorded-log.ts";
import { recordedSource } from "./recorded-source.ts";

function recorded(log: SampleLog, info = {}): RecordedLog {
  return new RecordedLog({ id: "c", title: "Told", execution_status: "finished", ...info }, log.events);
}

test("how things stood is what the events until then say; the title no event says", () => {
  const log = new SampleLog();
  log.message("Begin");
  log.state("execution_status", "running");
  log.state("stats", { usage_to_metrics: { agent: { accumulated_cost: 2 } } });
  log.state("execution_status", "finished");
  const recording = recorded(log);
  expect(recording.at(1).past).toMatchObject({
    conversation: { title: "Told", execution_status: "idle", stats: { usage_to_metrics: {} } },
  });
  expect(recording.at(3).past).toMatchObject({
    conversation: {
      execution_status: "running",
      stats: { usage_to_metrics: { agent: { accumulated_cost: 2 } } },
    },
  });
  expect(recording.at(4)).toMatchObject({ event_id: log.lastId, position: 4, length: 4 });
});

test("an action is open until it is answered, and waits where the conversation does", () => {
  const log = new SampleLog();
  const action = log.action("terminal", { command: "ls" });
  log.state("execution_status", "waiting_for_confirmation");
  log.result(action, { content: [] });
  const recording = recorded(log);
  const open = (is_waiting: boolean) => [{ action_id: action, tool_name: "terminal", is_waiting }];
  expect(recording.at(1).past["open_actions"]).toEqual(open(false));
  expect(recording.at(2).past["open_actions"]).toEqual(open(true));
  expect(recording.at(3).past["open_actions"]).toEqual([]);
});

test("pages go through the whole log in both directions, each event once", async () => {
  const log = new SampleLog();
  for (let number = 0; number < 450; number += 1) log.message(`${number}`);
  const recording = recorded(log);
  const source = recordedSource(new Map([[recording.id, recording]]));
  const down: unknown[] = [];
  for (let pageId: string | null = ""; pageId !== null;) {
    const page = await source.older("c", pageId);
    down.unshift(...page.events);
    pageId = page.nextPageId;
  }
  expect(down).toEqual(log.events);
  const up: unknown[] = [];
  for (let pageId: string | null = String(log.events[0]!["id"]); pageId !== null;) {
    const page = await source.newer("c", pageId);
    up.push(...page.events);
    pageId = page.nextPageId;
  }
  expect(up).toEqual(log.events);
  await expect(source.older("another", "")).rejects.toThrow("not part of the replay file");
});

test("what stands in the file ends no element, and is read as it was", () => {
  const events = [{ id: "1", text: "</script><!--<script>" }];
  const written = escapeJson(events.map((event) => JSON.stringify(event)).join("\n"));
  expect(written).not.toContain("<");
  expect(readEvents(`${written}\n`)).toEqual(events);
});

test("marks stand where a server would set them", () => {
  const log = new SampleLog();
  log.message("Begin");
  log.message("I begin.", "agent");
  const action = log.action("terminal", { command: "ls" });
  log.add({ kind: "UserRejectObservation", source: "user", action_id: action });
  log.add({ kind: "ConversationErrorEvent", source: "environment", code: "x", detail: "y" });
  log.message("Again");
  expect(recorded(log).landmarks).toEqual({
    length: 6,
    turns: [1, 6],
    errors: [5],
    rejected: [4],
    condensations: [],
    branches: [],
    tasks: [],
    spent: [],
  });
});

test("what was spent, where sub-agents began and where somebody went back is marked too", () => {
  const log = new SampleLog();
  const message = log.message("Begin");
  const usage = { per_turn_token: 20, context_window: 80 };
  log.state("stats", {
    usage_to_metrics: { agent: { accumulated_cost: 2, accumulated_token_usage: usage }, title: {} },
  });
  for (const status of ["running", "completed"]) log.state("task", { task_id: "t", status });
  log.state("leaf_event_id", null);
  expect(recorded(log, { forked_from_event_id: message }).landmarks).toMatchObject({
    branches: [1, 5],
    tasks: [3],
    spent: [{ position: 2, cost: 2, context: 0.25 }],
  });
});

test("how things stood is the same whichever place was looked at before", () => {
  const log = new SampleLog();
  const actionIds: string[] = [];
  for (let number = 0; number < 900; number += 1) {
    log.state("stats", { usage_to_metrics: { agent: { accumulated_cost: number } } });
    actionIds.push(log.action("terminal", { command: "ls" }));
    if (number % 3 > 0) log.result(actionIds.at(-1 - (number % 2))!, { content: [] });
  }
  const recording = recorded(log);
  const places = [2_500, 999, 1_000, 1_001, 1, 2_000, recording.length, 0];
  for (const place of places) {
    const rebuilt = new RecordedLog({ id: "c" }, log.events.slice(0, place)).at(place).past;
    expect(recording.at(place).past["open_actions"]).toEqual(rebuilt["open_actions"]);
    expect(recording.at(place).past).toMatchObject({ conversation: { id: "c" } });
  }
});

test("at an instant a log stood where its last event until then left it, before its first event at that", () => {
  const log = new SampleLog();
  for (const text of ["one", "two", "three"]) log.message(text);
  const recording = recorded(log);
  const instants = log.events.map((event) => String(event["timestamp"]));
  expect(instants.map((instant) => recording.atInstant(instant).position)).toEqual([1, 2, 3]);
  expect(recording.atInstant("").position).toBe(1);
  expect(recording.atInstant("9999").position).toBe(3);
});
