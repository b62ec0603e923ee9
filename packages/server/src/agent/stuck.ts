import { createHash } from "node:crypto";
import { parseForeignJson } from "../lib/parse-foreign-json.ts";
import type { Event } from "@convoke/protocol";
import type { ViewEvent } from "./history-view.ts";

/** How many repetitions count as stuck; the numbers are those of the reference. */
const limits = {
  samePair: 4,
  sameErrors: 4,
  monologue: 3,
  alternation: 6,
  rounds: 3,
  longestCycle: 6,
} as const;

/** Enough for three rounds of the longest cycle, each step an action and its result. */
const windowSize = 2 * limits.rounds * limits.longestCycle + 4;

/** After a hint the run is stopped after this many more repeated steps. */
const repeats = 2;

/** The hint to the model before its run is stopped. */
export const circlingHint =
  "You are going in circles: the same calls with the same results, or answers that lead to nothing. Trying again will not change " +
  "that: look at what the results say, take another way, or say with finish what keeps you from going on.";

/** Normalised texts of events, for comparison; cached between checks, so that each event is read once. */
export type EventTexts = WeakMap<Event, string>;

/** A longer text is known by its digest. */
const longestText = 256;

type Step = { readonly action: string; readonly result: string | null; readonly isError: boolean };

/**
 * Whether the newest events repeat themselves, since the last user message and since `fromSeq`, the start of the run: first
 * a hint, then `stuck` when the model goes on in the same way (L23.29).
 */
export function findCircling(
  view: readonly ViewEvent[],
  fromSeq: number,
  texts: EventTexts = new WeakMap(),
): "no" | "hint" | "stuck" {
  const window: Event[] = [];
  for (let index = view.length - 1; index >= 0 && window.length < windowSize; index--) {
    const { seq, event } = view[index]!;
    if (seq < fromSeq || (event.kind === "MessageEvent" && event.source === "user")) break;
    window.push(event);
  }
  window.reverse();
  const steps = toSteps(window, texts);
  const isCircling = repeatsError(steps) || repeatsCycle(steps) || isMonologue(window);
  if (!isCircling) return "no";
  const hintAt = window.findLastIndex(isHint);
  if (hintAt === -1) return "hint";
  const since = window.slice(hintAt + 1);
  const tries = since.filter(({ kind, source }) => kind === "ActionEvent" || source === "agent").length;
  return tries >= repeats ? "stuck" : "no";
}

function isHint(event: Event): boolean {
  return (
    event.kind === "MessageEvent" &&
    event.source === "environment" &&
    (event.llm_message.content ?? []).some((part) => "text" in part && part.text === circlingHint)
  );
}

/** The same call, and nothing but errors, whatever their texts. */
function repeatsError(steps: readonly Step[]): boolean {
  const last = steps.slice(-limits.sameErrors);
  return (
    last.length === limits.sameErrors && last.every((step) => step.isError && step.action === last[0]!.action)
  );
}

/** A cycle of one step four times, or one of two to six steps three times. */
function repeatsCycle(steps: readonly Step[]): boolean {
  for (let period = 1; period <= limits.longestCycle; period++) {
    const length = period === 1 ? limits.samePair : limits.rounds * period;
    const last = steps.slice(-length);
    if (last.length < length) return false;
    if (last.every((step, index) => index < period || sameStep(step, last[index - period]!))) return true;
  }
  return false;
}

function isMonologue(window: readonly Event[]): boolean {
  let count = 0;
  for (const event of window.toReversed()) {
    if (event.kind !== "MessageEvent") return false;
    if (event.source === "agent" && ++count === limits.monologue) return true;
  }
  return false;
}

function sameStep(left: Step, right: Step): boolean {
  return left.result !== null && left.action === right.action && left.result === right.result;
}

/** Each action with its result; ids, thoughts, summaries and the order of arguments are left out, so that they cannot hide a repetition. */
function toSteps(window: readonly Event[], texts: EventTexts): Step[] {
  const results = new Map<string, { text: string; isError: boolean }>();
  for (const event of window) {
    if (
      event.kind === "ObservationEvent" ||
      event.kind === "AgentErrorEvent" ||
      event.kind === "UserRejectObservation"
    ) {
      const isError = event.kind === "AgentErrorEvent";
      results.set(event.tool_call_id, { text: textOfResult(event, texts), isError });
    }
  }
  return window.flatMap((event) => {
    if (event.kind !== "ActionEvent") return [];
    const result = results.get(event.tool_call_id);
    const action = textOfResult(event, texts);
    return [{ action, result: result?.text ?? null, isError: result?.isError === true }];
  });
}

function textOfResult(event: Answered, texts: EventTexts): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const whole = textOf(event);
  const text = whole.length <= longestText ? whole : createHash("sha256").update(whole).digest("base64");
  texts.set(event, text);
  return text;
}

type Answered = Extract<
  Event,
  { kind: "ActionEvent" | "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" }
>;

function textOf(event: Answered): string {
  switch (event.kind) {
    case "ActionEvent":
      return `${event.tool_name} ${event.action ? canonical(event.action) : canonicalText(event.tool_call.arguments)}`;
    case "ObservationEvent":
      return canonical(event.observation);
    case "AgentErrorEvent":
      return event.error;
    case "UserRejectObservation":
      return event.rejection_reason ?? "";
  }
}

function canonicalText(text: string): string {
  try {
    return canonical(parseForeignJson(text));
  } catch {
    // Not JSON: the text is compared as it is.
    return text;
  }
}

/** JSON with its keys in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, field: unknown) =>
    typeof field === "object" && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );
}
