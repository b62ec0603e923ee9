import type { Watch } from "../../directory/watch.ts";
import { Fault } from "../../lib/fault.ts";
import type { OpenCalls } from "./open-calls.ts";
import { RunReader, type RunPart } from "./run-parts.ts";

/** The output of a run as it comes: chunks while the model writes, and what the log says. */
export type LiveRunPart =
  | RunPart
  | { readonly type: "text"; readonly chunk: string }
  | { readonly type: "thinking"; readonly chunk: string };

/**
 * The run behind `afterSeq`, until its end, until it waits for the client whose open calls are given, or until the signal aborts. Throws a fault for a run that fails. Returning early does not stop
 * the run.
 */
export async function* followRun(
  watch: Watch,
  afterSeq: number,
  signal: AbortSignal,
  calls: OpenCalls | null = null,
): AsyncGenerator<LiveRunPart> {
  const leaving = new AbortController();
  const waiting: LiveRunPart[] = [];
  let wake = (): void => {};
  let failure: Fault | null = null;
  let isOver = false;
  const push = (part: LiveRunPart): void => {
    waiting.push(part);
    wake();
  };
  const unsubscribe = watch.listen({
    onSignal: (json) => {
      const frame = JSON.parse(json) as { kind: string; content?: unknown; reasoning_content?: unknown };
      if (frame.kind !== "StreamingDeltaEvent") return;
      if (typeof frame.reasoning_content === "string")
        push({ type: "thinking", chunk: frame.reasoning_content });
      if (typeof frame.content === "string") push({ type: "text", chunk: frame.content });
    },
  });
  const reading = readRun(watch, { afterSeq, signal: AbortSignal.any([signal, leaving.signal]), calls }, push)
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
      if (part !== undefined) yield part;
      else if (failure !== null) throw failure as Fault;
      else if (isOver) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    leaving.abort();
    unsubscribe();
    await reading;
  }
}

async function readRun(
  watch: Watch,
  { afterSeq, signal, calls }: { afterSeq: number; signal: AbortSignal; calls: OpenCalls | null },
  push: (part: RunPart) => void,
): Promise<void> {
  const reader = new RunReader(watch.id, calls);
  for await (const events of watch.follow({ afterSeq, signal })) {
    for (const part of reader.read(events.map(({ json }) => json))) {
      if (part.type === "end" && "failure" in part.end) throw part.end.failure;
      push(part);
      if (part.type === "end") return;
    }
  }
  throw new Fault("not-now", "run_failed", "The request ended before its answer.");
}

function internal(): Fault {
  return new Fault("bug", "internal_error", "Something went wrong here; the log of the server says more.");
}
