import { emptyView, foldItem, spendOf, type ConversationView, type ConvokeClient } from "@convoke/client";
import type { ConversationExecutionStatus, Event } from "@convoke/protocol";
import { answerWaiting } from "./answer-approvals.ts";
import { CommandError, exitCodes } from "./exit-codes.ts";
import { LostConnection } from "./lost-connection.ts";
import { noReason } from "./no-reason.ts";
import { createPaint } from "./print/paint.ts";
import { RowPrinter } from "./print/row-printer.ts";
import { WaitNotes } from "./print/wait-notes.ts";

export type WatchOptions = {
  readonly client: ConvokeClient;
  readonly conversationId: string;
  /** What came up to this event was shown; from the beginning when absent. */
  readonly afterEventId?: string;
  /** Prints each event as one line of JSON instead of an account for people. */
  readonly isJson: boolean;
  /** Prints nothing but what ended the run, on stderr, where that is an error. */
  readonly isQuiet?: boolean;
  readonly output: NodeJS.WriteStream;
  readonly input: NodeJS.ReadStream;
};

/** Shows a run from its first event to its end, asks for approvals where it can; resolves with the exit code. */
export async function watchRun(options: WatchOptions): Promise<number> {
  const { client, conversationId: id, output, afterEventId = null } = options;
  const paint = createPaint(output);
  const printer = new RowPrinter(paint);
  const stop = new AbortController();
  using link = new LostConnection(() => stop.abort());
  using notes =
    options.isJson || options.isQuiet === true
      ? null
      : new WaitNotes({ output, paint, clock: { nowMs: () => Date.now() } });
  let wasInterrupted = false;
  const onInterrupt = (): void => {
    wasInterrupted = true;
    // A failure shows as the end of the stream; a second Ctrl-C ends the process.
    client.interrupt(id).catch(() => stop.abort());
    process.once("SIGINT", () => process.exit(exitCodes.interrupted));
  };
  process.once("SIGINT", onInterrupt);
  // Nobody sees the agent any more.
  output.once("error", onInterrupt);
  let exitCode: number | null = null;
  let lastId = "";
  let view = emptyView;
  try {
    for await (const item of client.follow(id, {
      afterEventId,
      signal: stop.signal,
      onConnection: (change) => link.see(change),
    })) {
      // The first snapshot is newer than the events that follow it: the events alone tell when the run ends.
      if (item.type === "signal") continue;
      const before = view;
      view = foldItem(view, item);
      if (options.isJson) output.write(`${item.json}\n`);
      else if (notes === null) writeEnd(item.event);
      else {
        notes.see(view);
        notes.write(printer.see(item.event));
      }
      if (exitCode === null && view.status !== before.status) {
        exitCode = await endOfRun(options, view.status);
        // What ended the run (an error, a rejection) follows its status in the same commit, so it is stored already.
        if (exitCode !== null) lastId = await newestEventId(options);
      }
      if (exitCode === exitCodes.failed && isLimit(item.event)) exitCode = exitCodes.limit;
      if (exitCode !== null && item.event.id! >= lastId) break;
    }
    if (exitCode === null && link.isGivenUp)
      throw new CommandError(
        `The server did not answer any more. The conversation is ${id}; see convoke show.`,
        exitCodes.unreachable,
      );
    if (exitCode === null) return exitCodes.interrupted;
    if (notes !== null) output.write(`${summary(id, view, paint)}\n`);
    return wasInterrupted ? exitCodes.interrupted : exitCode;
  } finally {
    process.off("SIGINT", onInterrupt);
    output.off("error", onInterrupt);
    stop.abort();
  }
}

const limits: readonly string[] = ["MaxBudgetReached", "MaxIterationsReached", "MaxRunTimeReached"];

function isLimit(event: Event): boolean {
  return event.kind === "ConversationErrorEvent" && limits.includes(event.code);
}

function writeEnd(event: Event): void {
  if (event.kind !== "ConversationErrorEvent") return;
  for (const line of new RowPrinter(createPaint(process.stderr)).see(event)) console.error(line);
}

const endings = new Map<ConversationExecutionStatus, number>([
  ["finished", exitCodes.ok],
  ["error", exitCodes.failed],
  ["stuck", exitCodes.stuck],
  ["paused", exitCodes.paused],
]);

/** The exit code when this status ends the run; asks for the approval that a run waits for. Null while the run continues. */
async function endOfRun(options: WatchOptions, status: ConversationExecutionStatus): Promise<number | null> {
  if (status === "waiting_for_confirmation") return (await answer(options)) ? null : exitCodes.notApproved;
  return endings.get(status) ?? null;
}

export async function newestEventId({
  client,
  conversationId,
}: Pick<WatchOptions, "client" | "conversationId">): Promise<string> {
  const page = await client.searchEvents(conversationId, { limit: 1, sort_order: "TIMESTAMP_DESC" });
  return page.items[0]?.id ?? "";
}

/** True when a waiting action was approved. */
async function answer(options: WatchOptions): Promise<boolean> {
  const { client, conversationId: id } = options;
  if (!options.input.isTTY) {
    process.stderr.write(
      "The action above needs approval, but there is no terminal to ask at, so it is rejected. " +
        "Run in a terminal, or use --confirm never; for request_network name the hosts with --network.\n",
    );
    await client.respondToConfirmation(id, false, noReason);
    return false;
  }
  const isJson = options.isJson || options.isQuiet === true;
  return await answerWaiting(client, id, { ...options, isJson });
}

function summary(id: string, view: ConversationView, paint: ReturnType<typeof createPaint>): string {
  const { cost, promptTokens, completionTokens } = spendOf(view);
  const sum = promptTokens + completionTokens;
  const tokens = Object.keys(view.stats).length > 0 ? `, ${sum} tokens` : "";
  const dollars = cost > 0 ? `, $${cost.toFixed(4)}` : "";
  return paint.dim(`${view.status}${tokens}${dollars}  conversation ${id}`);
}
