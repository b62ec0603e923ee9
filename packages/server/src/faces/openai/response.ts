import { Readable } from "node:stream";
import { Fault } from "../../lib/fault.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Usage } from "./completion.ts";
import type { LiveRunPart } from "./follow-run.ts";
import { toOutput, toResponse, type ResponseFacts } from "./response-body.ts";
import { ResponseEvents, type ResponseEvent } from "./response-events.ts";
import type { RunPart } from "./run-parts.ts";

export type ResponseDeps = {
  readonly facts: ResponseFacts;
  readonly clock: Clock;
  readonly parts: AsyncIterable<LiveRunPart>;
  /** Tokens spent since the request came. */
  readonly usage: () => Promise<Usage>;
  /** Called with the texts that the client has got. */
  readonly onAnswer: (texts: readonly string[]) => Promise<void>;
};

/** The whole response. Throws the fault of a run that fails. */
export async function response({ facts, clock, parts, usage, onAnswer }: ResponseDeps): Promise<object> {
  const read: RunPart[] = [];
  for await (const part of parts) {
    if (part.type === "text" || part.type === "thinking") continue;
    read.push(part);
    if (part.type !== "end" || !("text" in part.end)) continue;
    await onAnswer([part.end.text]);
    return toResponse(facts, {
      status: "completed",
      output: toOutput(read, part.end.text),
      completedAtMs: clock.nowMs(),
      usage: await usage(),
    });
  }
  throw new Fault("not-now", "run_failed", "The request ended before its answer.");
}

/** The response as server-sent events. A run that fails is an event too. */
export function responseStream(deps: ResponseDeps): Readable {
  return Readable.from(numbered(events(deps)));
}

async function* numbered(all: AsyncIterable<ResponseEvent>): AsyncGenerator<string> {
  let number = 0;
  for await (const event of all) {
    const data = { ...event, sequence_number: number };
    number += 1;
    yield `event: ${event.type}\ndata: ${JSON.stringify(data)}\n\n`;
  }
}

async function* events({
  facts,
  clock,
  parts,
  usage,
  onAnswer,
}: ResponseDeps): AsyncGenerator<ResponseEvent> {
  const begun = toResponse(facts, { status: "in_progress", output: [], completedAtMs: null, usage: null });
  yield { type: "response.created", response: begun };
  yield { type: "response.in_progress", response: begun };
  const items = new ResponseEvents();
  try {
    for await (const part of parts) yield* items.of(part);
    await onAnswer(items.texts);
    const state = { output: items.output, completedAtMs: clock.nowMs(), usage: await usage() };
    yield { type: "response.completed", response: toResponse(facts, { status: "completed", ...state }) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const state = { output: items.output, completedAtMs: null, usage: null, problem: error.message };
    yield { type: "response.failed", response: toResponse(facts, { status: "failed", ...state }) };
  }
}
