import type {
  Event,
  HookExecutionEvent,
  InterruptEvent,
  SecurityRisk,
  SettingsUsed,
} from "@convoke/protocol";
import type { NewEvent } from "../journal/journal.ts";
import { formatInstant } from "../lib/instant.ts";
import { nextUuid7 } from "../lib/uuid7.ts";
import type { Mask } from "../security/mask.ts";
import type { RuleDecision } from "../security/rules/rule.ts";
import type { ModelTool, ProviderReplay } from "../models/model.ts";

type WithoutStamp<Body> = Body extends unknown ? Omit<Body, "id" | "timestamp"> : never;

/** A decided event, before it has an id and a time. */
export type EventBody = WithoutStamp<Event | InterruptEvent | HookExecutionEvent>;

/** Private facts that are stored beside an event and never sent, because the contract has no fields for them. */
export type EventMeta = {
  /** On a model's answer: the highest `seq` that its request had seen. */
  readonly sawSeq?: number;
  /** On a message of the agent: the answer was interrupted, and this is its beginning. */
  readonly isInterrupted?: true;
  /** On an ActionEvent: whether it may start, or waits for the user. */
  readonly gate?: "approved" | "awaiting";
  /** On an ActionEvent: the rule that decided about it; absent when none did. */
  readonly decidedBy?: RuleDecision;
  /** On an ActionEvent: the findings of the security analyzer. */
  readonly verdict?: { readonly risk: SecurityRisk; readonly reasons: readonly string[] };
  /** On an ActionEvent that waits: a reviewer may decide about it, and the risk that the analyzers have found. */
  readonly reviewable?: { readonly risk: SecurityRisk };
  /** On a state update: the reviewer was asked about these actions; why it left each to a person, empty where it has not answered yet. */
  readonly reviewed?: Readonly<Record<string, string>>;
  /** On a user message: the sender also requested a run. */
  readonly wantsRun?: boolean;
  /** On a status update to `running`: a new run begins here, and these actions were approved by it. */
  readonly run?: {
    readonly approved: readonly string[];
    readonly settingsVersion?: number;
    readonly settingsUsed?: SettingsUsed;
    readonly isAttended?: true;
  };
  /** On a state update: these actions may start from now on. */
  readonly approved?: readonly string[];
  /** On a status update to `waiting_for_confirmation`, and on a change of the policy then: epoch milliseconds after which the configured answer counts; null for never. */
  readonly deadlineMs?: number | null;
  /** On a Condensation: the message that its sender withdrew before the model had read it. */
  readonly dequeued?: string;
  /** On a state update: the call is handed to the client, which has until `deadlineMs` for its result. */
  readonly pendingCall?: { readonly id: string; readonly deadlineMs: number };
  /** On the observation of a client tool: a digest of the result, so that it can be sent again. */
  readonly resultDigest?: string;
  /** On a state update with a message that is delivered when the run has ended: the facts of its MessageEvent. */
  readonly held?: EventMeta;
  /** On a state update: the message that waited, by the id of that state update, waits no more. */
  readonly released?: string;
  /** On the first event of an answer: the provider's own output items, to go back to it unchanged. */
  readonly replay?: ProviderReplay;
  /** On an AgentErrorEvent: the id of the action it answers (tool call ids may repeat). */
  readonly answers?: string;
  /** On a result after which the model has nothing to read: that of `finish`, and of calls behind it. */
  readonly isFinal?: boolean;
  /** On the first event that came of a model request: what was asked, so that it can be proven later. */
  readonly request?: RequestRecord;
  /** Beside `request`, when the tools are others than those of the request before: how the model saw them. */
  readonly tools?: readonly ModelTool[];
  /** On an answer whose request had a list of tools: a digest of that list. */
  readonly shownTools?: string;
  /** On a message about content that a provider refused: ids of the events that the model reads in a repaired form from here on. */
  readonly repaired?: readonly string[];
  /**
   * On a warning about something that a model's provider refuses, or a rule of a project: its name, so that the
   * warning is given once.
   */
  readonly adjusted?: string;
  /** On a Condensation whose summary a model wrote: how much of each event that model was shown, in characters. */
  readonly shownCharacters?: number;
  /** On a Condensation: the events before it that the model's view still needs; all of them when absent. */
  readonly keeps?: readonly SeqRange[];
  /**
   * On a state update: the position from which the conversation continues (0: the beginning), and the folded state
   * there. `jumps`: the navigations of an imported log before it.
   */
  readonly navigation?: {
    readonly toSeq: number;
    readonly head: object;
    readonly jumps?: readonly (readonly [seq: number, toSeq: number])[];
  };
  /** On an imported event: its id in the source, where it has another one here, and its instant in the log in epoch microseconds. */
  readonly imported?: { readonly id?: string; readonly micros: number };
  /** A checkpoint: the state at an earlier position, from which folds of the past start. */
  readonly checkpoint?: { readonly version: number; readonly state: object };
  /** On a user message: the JSON Schema of the answer to it. */
  readonly responseSchema?: Readonly<Record<string, unknown>>;
  /** On a call of `finish`, or a last message: the answer as the schema of answers has it. */
  readonly structuredOutput?: Readonly<Record<string, unknown>>;
  /** On an error or a hint that refuses an answer which is not valid by that schema. */
  readonly isRefusedAnswer?: true;
  /** On a message of the critic: how many it sent since the user's last message, this one included. */
  readonly refinement?: number;
};

/** Positions in a log, both included. */
export type SeqRange = readonly [from: number, to: number];

/** A model request in digests; `agent/replay` rebuilds the request and compares. */
export type RequestRecord = {
  readonly model: string;
  /** The highest `seq` that it had seen; absent for the condenser's, which saw what it made forgotten. */
  readonly sawSeq?: number;
  /** SHA-256 over the messages, shortened. */
  readonly messages: string;
  readonly tools: string;
  /** Where the list of tools is stored, when that is at an earlier request. */
  readonly toolsSeq?: number;
  /** Tokens as we estimated them, and as the provider counted them where it did. */
  readonly estimatedTokens: number;
  readonly promptTokens?: number;
};

/** A body that names the event before it gets that event's id when both are stamped. */
export type EventDraft = {
  readonly body: EventBody | ((previousId: string) => EventBody);
  readonly meta?: EventMeta;
};

/** The last id and time of a log; the next ones are greater whatever the clock says. */
export type LogPosition = {
  readonly lastSeq: number;
  readonly lastId: string | null;
  readonly lastMicros: number;
};

export type StampedEvent = {
  readonly seq: number;
  readonly record: NewEvent;
  readonly event: Event;
  readonly meta: EventMeta;
};

/** Gives drafts their ids, times and wire text, in order, after `position`. */
export function stampDrafts(
  drafts: readonly EventDraft[],
  position: LogPosition,
  nowMs: number,
  mask: Mask,
): StampedEvent[] {
  let { lastSeq, lastId, lastMicros } = position;
  return drafts.map(({ body: given, meta = {} }) => {
    const body = typeof given === "function" ? given(lastId ?? "") : given;
    lastSeq += 1;
    lastId = nextUuid7(lastId, nowMs);
    lastMicros = Math.max(nowMs * 1000, lastMicros + 1);
    const { kind, source, ...rest } = { source: defaultSource(body.kind), ...body };
    const unmasked = { id: lastId, timestamp: formatInstant(lastMicros), source, ...rest, kind } as Event;
    const plain = JSON.stringify(unmasked);
    const json = mask(plain);
    const event = json === plain ? unmasked : (JSON.parse(json) as Event);
    const storedMeta = withoutMasked(meta, mask);
    const record: NewEvent = {
      id: lastId,
      timestampMicros: lastMicros,
      kind,
      source: event.source ?? defaultSource(kind),
      json,
      text: searchableText(event),
      meta: Object.keys(storedMeta).length === 0 ? null : JSON.stringify(storedMeta),
    };
    return { seq: lastSeq, record, event, meta: storedMeta };
  });
}

/** A provider's items and an answer hold what the model wrote once more, so that they are masked like the event. */
function withoutMasked(meta: EventMeta, mask: Mask): EventMeta {
  const { replay, structuredOutput } = meta;
  if (replay === undefined && structuredOutput === undefined) return meta;
  return {
    ...meta,
    ...(replay === undefined ? {} : { replay: masked(replay, (json) => mask(json, "provider")) }),
    // Below a field that is content, because the answer's own names mean nothing.
    ...(structuredOutput === undefined ? {} : masked({ structuredOutput }, mask)),
  };
}

function masked<Value>(value: Value, mask: (json: string) => string): Value {
  const plain = JSON.stringify(value);
  const json = mask(plain);
  return json === plain ? value : (JSON.parse(json) as Value);
}

/** What the `body` filter searches: text parts, added content and reasoning of messages; null for other kinds. */
export function searchableText(event: Event): string | null {
  if (event.kind !== "MessageEvent") return null;
  const { llm_message: message, extended_content: extended } = event;
  const parts = [...(message.content ?? []), ...(extended ?? [])].flatMap((part) =>
    part.type === "text" || "text" in part ? [(part as { text: string }).text] : [],
  );
  if (message.reasoning_content) parts.push(message.reasoning_content);
  return parts.join(" ");
}

/** The contract's default `source` per kind. Source: contract 2.1. */
function defaultSource(kind: EventBody["kind"]): "agent" | "user" | "environment" | "hook" {
  switch (kind) {
    case "HookExecutionEvent":
      return "hook";
    case "ActionEvent":
    case "AgentErrorEvent":
    case "SystemPromptEvent":
      return "agent";
    case "PauseEvent":
    case "InterruptEvent":
      return "user";
    default:
      return "environment";
  }
}
