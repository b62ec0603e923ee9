import { clientActionPrefix, type Event } from "@convoke/protocol";
import { isGoOn } from "../../agent/receive.ts";
import { Fault } from "../../lib/fault.ts";
import type { OpenCalls } from "./open-calls.ts";

/** What the log says of a run, in the order of the log. */
export type RunPart =
  /** `isLast`: the run may end with it; other texts come with calls. */
  | { readonly type: "message"; readonly text: string; readonly isLast: boolean }
  | { readonly type: "reasoning"; readonly text: string }
  /** A call of a tool of the client. */
  | { readonly type: "call"; readonly callId: string; readonly name: string; readonly arguments: string }
  /** Statistics of all model calls of the conversation until then, by usage id. */
  | { readonly type: "spent"; readonly stats: Readonly<Record<string, unknown>> }
  | { readonly type: "end"; readonly end: RunEnd; readonly atMs: number };

/** `text`: the agent's last text. A run that did not finish has the fault for who waits for it. */
export type RunEnd =
  | { readonly text: string }
  | { readonly failure: Fault; readonly status: "failed" | "paused" | "waiting" };

/** Errors that end no run. */
const passing = new Set(["MCPServerFailed", "MCPToolsOmitted", "ToolFilterFailed"]);

/** Reads a log from the request for a run to its end. */
export class RunReader {
  readonly #conversationId: string;
  /** Null where nobody answers calls: then only the end of the run is an end. */
  readonly #calls: OpenCalls | null;
  #text = "";
  #problem = "";
  /** The text of a truncated answer, which the next message continues. */
  #begun = "";
  #hasBegun = false;

  constructor(conversationId: string, calls: OpenCalls | null = null) {
    this.#conversationId = conversationId;
    this.#calls = calls;
  }

  /** The parts of some events that were stored together. */
  read(jsons: readonly string[]): RunPart[] {
    const events = jsons.map((json) => JSON.parse(json) as Event);
    return events.flatMap((event) => {
      const parts = this.#partsOf(event, events);
      if (this.#calls?.add(event) !== true) return parts;
      return [...parts, { type: "end", end: { text: "" }, atMs: Date.parse(event.timestamp ?? "") } as const];
    });
  }

  #partsOf(event: Event, beside: readonly Event[]): RunPart[] {
    const parts = wordsOf(event);
    const spoken = lastText(event);
    if (spoken !== null) this.#text = this.#begun + spoken;
    if (spoken !== null || event.kind === "ActionEvent") this.#begun = "";
    if (isGoOn(event)) this.#begun = this.#text;
    if (event.kind === "ConversationErrorEvent" && !passing.has(event.code)) this.#problem = event.detail;
    if (event.kind !== "ConversationStateUpdateEvent") return parts;
    if (event.key === "stats") return [{ type: "spent", stats: statsIn(event.value) }];
    const end = event.key === "execution_status" ? this.#endWith(event.value, beside) : null;
    return end === null ? [] : [{ type: "end", end, atMs: Date.parse(event.timestamp ?? "") }];
  }

  #endWith(status: unknown, beside: readonly Event[]): RunEnd | null {
    switch (status) {
      case "running":
        this.#hasBegun = true;
        return null;
      case "idle":
        // Before a run it says that the one before is over; behind it every action was rejected.
        return this.#hasBegun && !beside.some(isRunning) ? { text: this.#text } : null;
      case "finished":
        return { text: this.#text };
      case "error":
        // The reason is the next event of the same commit.
        return runFailed(this.#problem || errorIn(beside) || "The agent's run ended with an error.");
      case "stuck":
        return runFailed("The agent repeated itself without getting anywhere.");
      case "paused":
      case "waiting_for_confirmation":
        return {
          status: status === "paused" ? "paused" : "waiting",
          failure: new Fault(
            "conflict",
            "run_waits",
            `The conversation ${this.#conversationId} is ${status}: it goes on when somebody tells it to.`,
          ),
        };
      default:
        return null;
    }
  }
}

function runFailed(problem: string): RunEnd {
  return { status: "failed", failure: new Fault("not-now", "run_failed", problem) };
}

function isRunning(event: Event): boolean {
  return (
    event.kind === "ConversationStateUpdateEvent" &&
    event.key === "execution_status" &&
    event.value === "running"
  );
}

function wordsOf(event: Event): RunPart[] {
  if (event.kind === "MessageEvent" && event.source === "agent") {
    const { reasoning_content: reasoning } = event.llm_message;
    return [...reasoningPart(reasoning), ...messagePart(lastText(event) ?? "", true)];
  }
  if (event.kind !== "ActionEvent") return [];
  const { thought, reasoning_content: reasoning, action, tool_call: call } = event;
  const text = thought.map((part) => part.text).join("");
  const own: RunPart[] = [...reasoningPart(reasoning), ...messagePart(text, false)];
  if (action?.kind === "FinishAction") return [...own, ...messagePart(lastText(event) ?? "", true)];
  // Kinds of tools of the client are not in the schema.
  if (action?.kind.startsWith(clientActionPrefix) === true)
    own.push({ type: "call", callId: call.id, name: call.name, arguments: call.arguments });
  return own;
}

function statsIn(value: unknown): Readonly<Record<string, unknown>> {
  return (value as { usage_to_metrics?: Readonly<Record<string, unknown>> } | null)?.usage_to_metrics ?? {};
}

function reasoningPart(text: string | null | undefined): RunPart[] {
  return text ? [{ type: "reasoning", text }] : [];
}

function messagePart(text: string, isLast: boolean): RunPart[] {
  return text === "" ? [] : [{ type: "message", text, isLast }];
}

/** The text of an event that may be the last of its run. */
function lastText(event: Event): string | null {
  if (event.kind === "MessageEvent" && event.source === "agent") {
    return (event.llm_message.content ?? []).map((part) => ("text" in part ? part.text : "")).join("");
  }
  if (event.kind === "ActionEvent" && event.action?.kind === "FinishAction") return event.action.message;
  return null;
}

function errorIn(events: readonly Event[]): string | null {
  for (const event of events) if (event.kind === "ConversationErrorEvent") return event.detail;
  return null;
}
