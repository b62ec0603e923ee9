import { setTimeout as sleep } from "node:timers/promises";
import type { Event } from "@convoke/protocol";
import type { AppendRecord } from "../journal-with-record.ts";
import type { History, NodeRig } from "./node-rig.ts";

/** On an idle machine a dead server is found within seven seconds. */
const quietWithinMs = 90_000;

/** The broken promises of one idle conversation; empty when all held. */
export async function checkHistory(rig: NodeRig, history: History): Promise<string[]> {
  const { id, followed, paidCalls } = history;
  const deadlineMs = performance.now() + quietWithinMs;
  const last = paidCalls === null ? "finished" : "error";
  for (;;) {
    const status = await rig.statusOf(id);
    if (status === last) break;
    if (performance.now() > deadlineMs) return [`${id} did not come to its end, it is ${status}`];
    await sleep(50);
  }
  const [stored, ...others] = await Promise.all(rig.nodes.map((_, index) => rig.eventsOf(id, index)));
  const ids = stored!.map((event) => event.id ?? "");
  while (followed.at(-1) !== ids.at(-1)) {
    if (performance.now() > deadlineMs)
      return [`${id}: the follower has ${followed.length} of ${ids.length} events`];
    await sleep(50);
  }
  const made = await rig.marksOf(id);
  const rules: readonly (readonly [string, boolean])[] = [
    [
      "P28: the servers read different logs",
      others.every((log) => JSON.stringify(log) === JSON.stringify(stored)),
    ],
    ["ids do not grow", isGrowing(ids)],
    ["times go back", isGrowing(stored!.map((event) => event.timestamp ?? ""))],
    ["P1: the follower has another log", JSON.stringify(followed) === JSON.stringify(ids)],
    // A call that was lost is made again.
    ["P6: a command ran twice", history.surviving !== null || made.length === new Set(made).size],
    ["what was told of before the database lost its end is not there", isWithin(history.surviving, ids)],
    ...messageRules(history, stored!),
    ...writerRules(ids, await rig.appendsTo(id), history.surviving !== null),
  ];
  return rules.flatMap(([sentence, holds]) => (holds ? [] : [`${id}: ${sentence}`]));
}

type Rule = readonly [sentence: string, holds: boolean];

function messageRules({ acknowledged, paidCalls, surviving }: History, stored: readonly Event[]): Rule[] {
  const delivered = stored.flatMap((event) =>
    event.kind === "MessageEvent" && event.source === "user" ? [event.id] : [],
  );
  const calls = stored.filter(({ kind }) => kind === "ActionEvent").length;
  const answers = stored.filter(
    ({ kind }) => kind === "ObservationEvent" || kind === "AgentErrorEvent",
  ).length;
  const maxMessages = acknowledged.size + 1;
  const lastDelivered = stored.findLastIndex((event) => event.id === delivered.at(-1));
  const isAnswered = stored.slice(lastDelivered).some(({ kind }) => kind === "ActionEvent");
  return [
    [
      "an acknowledged message is not there",
      surviving !== null || [...acknowledged.values()].every((one) => delivered.includes(one)),
    ],
    [
      "P18: a message is there twice",
      delivered.length === new Set(delivered).size && delivered.length <= maxMessages,
    ],
    ["P18: a message was lost", surviving !== null || delivered.length === maxMessages],
    ["a call has no answer, or two", calls === answers],
    ["P26: the last message was not answered", paidCalls !== null || isAnswered],
    ["P48: more than one call beyond the budget", paidCalls === null || calls <= paidCalls + 1],
  ];
}

function writerRules(ids: readonly string[], all: readonly AppendRecord[], mayLose: boolean): Rule[] {
  const stored = new Set(ids);
  const appends = mayLose ? all.filter(({ eventIds }) => eventIds.every((one) => stored.has(one))) : all;
  const writers = new Map<number, string>();
  for (const { generation, nodeId } of appends) if (!writers.has(generation)) writers.set(generation, nodeId);
  const placeOf = new Map(ids.map((one, index) => [one, index]));
  const places = appends.flatMap(({ eventIds }) => eventIds.map((one) => placeOf.get(one) ?? -1));
  return [
    [
      "P27: two servers wrote in one generation",
      appends.every(({ generation, nodeId }) => writers.get(generation) === nodeId),
    ],
    [
      "P27: an older generation wrote after a newer one",
      appends.every(({ generation }, index) => index === 0 || generation >= appends[index - 1]!.generation),
    ],
    ["P7: an event that was acknowledged to its writer is not in the log", !places.includes(-1)],
    [
      "P7: events are not in the order in which they were acknowledged, each once",
      places.every((place, index) => index === 0 || place > places[index - 1]!),
    ],
  ];
}

function isWithin(some: ReadonlySet<string> | null, all: readonly string[]): boolean {
  return some === null || some.isSubsetOf(new Set(all));
}

function isGrowing(texts: readonly string[]): boolean {
  return texts.every((one, index) => index === 0 || one > texts[index - 1]!);
}
