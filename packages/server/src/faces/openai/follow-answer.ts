import { isGoOn } from "../../agent/receive.ts";
import type { Event } from "@convoke/protocol";
import type { Watch } from "../../directory/watch.ts";
import { Fault } from "../../lib/fault.ts";

/** The output of a run: chunks while it works, then its end. */
export type AnswerPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "done"; readonly text: string };

/** Errors that end no run. */
const passing = new Set(["MCPServerFailed", "MCPToolsOmitted", "ToolFilterFailed"]);

/**
 * The answer to the message after `afterSeq`: chunks of text as the model produces them, then the whole last message.
 * Throws a fault when the run does not finish. Returning early does not stop the run.
 */
export async function* followAnswer(
  watch: Watch,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<AnswerPart> {
  const leaving = new AbortController();
  const waiting: AnswerPart[] = [];
  let wake = (): void => {};
  let failure: Fault | null = null;
  let isOver = false;
  const push = (part: AnswerPart): void => {
    waiting.push(part);
    wake();
  };
  const unsubscribe = watch.listen({
    onSignal: (json) => {
      const { kind, content } = JSON.parse(json) as { kind: string; content?: unknown };
      if (kind === "StreamingDeltaEvent" && typeof content === "string")
        push({ type: "text", text: content });
    },
  });
  const reading = readLog(watch, afterSeq, AbortSignal.any([signal, leaving.signal]))
    .then((text) => push({ type: "done", text }))
    .catch((error: unknown) => {
      failure = error instanceof Fault ? error : internal();
    })
    .finally(() => {
      isOver = true;
      wake();
    });
  try {
    for (;;) {
      const part = waiting.shift();
      if (part !== undefined) {
        yield part;
        if (part.type === "done") return;
      } else if (failure !== null) throw failure as Fault;
      else if (isOver) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    leaving.abort();
    unsubscribe();
    await reading;
  }
}

/** The agent's last text before its run ended. */
async function readLog(watch: Watch, afterSeq: number, signal: AbortSignal): Promise<string> {
  let text = "";
  let problem = "";
  // The text of a truncated answer, which the next message continues.
  let begun = "";
  for await (const events of watch.follow({ afterSeq, signal })) {
    for (const { json } of events) {
      const event = JSON.parse(json) as Event;
      const spoken = textIn(event);
      if (spoken !== null) text = begun + spoken;
      if (spoken !== null || event.kind === "ActionEvent") begun = "";
      if (isGoOn(event)) begun = text;
      if (event.kind === "ConversationErrorEvent" && !passing.has(event.code)) problem = event.detail;
      if (event.kind !== "ConversationStateUpdateEvent" || event.key !== "execution_status") continue;
      switch (event.value) {
        case "finished":
          return text;
        case "error":
          // The reason is the next event of the same commit.
          problem ||=
            errorAfter(events.map((stored) => stored.json)) ?? "The agent's run ended with an error.";
          throw new Fault("not-now", "run_failed", problem);
        case "stuck":
          throw new Fault("not-now", "run_failed", "The agent repeated itself without getting anywhere.");
        case "paused":
        case "waiting_for_confirmation":
          throw new Fault(
            "conflict",
            "run_waits",
            `The conversation ${watch.id} is ${event.value}: it goes on when somebody tells it to.`,
          );
        default:
      }
    }
  }
  throw new Fault("not-now", "run_failed", "The request ended before its answer.");
}

function textIn(event: Event): string | null {
  if (event.kind === "MessageEvent" && event.source === "agent") {
    return (event.llm_message.content ?? []).map((part) => ("text" in part ? part.text : "")).join("");
  }
  if (event.kind === "ActionEvent" && event.action?.kind === "FinishAction") return event.action.message;
  return null;
}

function errorAfter(events: readonly string[]): string | null {
  for (const json of events) {
    const event = JSON.parse(json) as Event;
    if (event.kind === "ConversationErrorEvent") return event.detail;
  }
  return null;
}

function internal(): Fault {
  return new Fault("bug", "internal_error", "Something went wrong here; the log of the server says more.");
}
