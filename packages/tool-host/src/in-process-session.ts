import { existsSync } from "node:fs";
import { join } from "node:path";
import { describeError } from "./describe-error.ts";
import { ExecutionJournal } from "./execution-journal.ts";
import type { ExecutionRecord } from "./execution-journal.ts";
import type { ExecuteOptions, ExecutionRequest, ExecutionState, Outcome } from "./host.ts";
import { maskOutcome } from "./mask-outcome.ts";
import { maskText } from "./processes/mask.ts";
import { settle } from "./settle.ts";
import { RememberedOutcomes } from "./remembered-outcomes.ts";
import { ToolInputError } from "./tool.ts";
import type { ToolCall, ToolFace, ToolInstance } from "./tool.ts";
import type { ToolLane } from "./tool-lane.ts";

export type InProcessSessionDeps = {
  readonly stateDir: string;
  /** Public texts, never masked in an outcome. */
  readonly workspaceDir: string;
  readonly onWarning: (text: string) => void;
  /** Milliseconds that a cancelled tool has to stop before its call is abandoned. */
  readonly cancelGraceMs: number;
};

/** What an execution calls, and the queue in front of it. */
export type Place = { readonly face: ToolFace; readonly lane: ToolLane };

/** The executions of one session: runs each action id once and remembers its outcome, on disk and across restarts. */
export class InProcessSession implements AsyncDisposable {
  readonly #deps: InProcessSessionDeps;
  readonly #running = new Map<string, RunningExecution>();
  /** Outcomes of read-only tools; a dropped one is read again. */
  readonly #remembered = new RememberedOutcomes();
  /** Outcomes that the disk refused. Dropping one loses it, so their size is not limited. */
  readonly #unwritten = new RememberedOutcomes({ outcomes: 64, characters: Infinity });
  #journal: ExecutionJournal | undefined;
  #isClosed = false;

  constructor(deps: InProcessSessionDeps) {
    this.#deps = deps;
  }

  async execute(place: Place, request: ExecutionRequest, options: ExecuteOptions): Promise<Outcome> {
    const running = this.#running.get(request.actionId);
    if (running !== undefined) return follow(running, options);
    if (this.#isClosed) return failure("The tool session is closed; the call was not run.");
    try {
      const known = this.#recall(request.actionId, place.face.isReadOnly);
      if (known !== undefined) return known.type === "ended" ? known.outcome : lost;
    } catch (error) {
      return failure(this.#journalProblem(error));
    }
    return follow(this.#begin(place, request, options.beforeStart), options);
  }

  /** Read-only calls are not announced: they have no record. */
  announce(place: Place, actionId: string, tool: string): void {
    if (this.#isClosed || place.face.isReadOnly) return;
    try {
      this.#openJournal().announce(actionId, tool);
    } catch {
      // The start fails the same way and reports it.
    }
  }

  state(actionId: string): ExecutionState {
    if (this.#running.has(actionId)) return { type: "running" };
    if (this.#isClosed) throw new Error("The tool session is closed.");
    const known = this.#recall(actionId, false);
    if (known === undefined) return { type: "unknown" };
    return known.type === "ended" ? { type: "finished", outcome: known.outcome } : { type: "lost" };
  }

  async cancel(actionId: string): Promise<void> {
    const running = this.#running.get(actionId);
    if (running === undefined) return;
    running.controller.abort();
    await running.outcome;
  }

  /** Cancels running executions, waits for them, and closes the journal. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#running.keys()].map((actionId) => this.cancel(actionId)));
    this.#journal?.[Symbol.dispose]();
    this.#journal = undefined;
  }

  #begin(
    place: Place,
    request: ExecutionRequest,
    beforeStart: ExecuteOptions["beforeStart"],
  ): RunningExecution {
    const controller = new AbortController();
    const listeners = new Set<(text: string) => void>();
    const call: ToolCall = {
      actionId: request.actionId,
      tool: request.tool,
      signal: controller.signal,
      secrets: request.secrets,
      onProgress: (text) => {
        const masked = maskText(text, request.secrets);
        for (const listener of listeners) listener(masked);
      },
    };
    const outcome = this.#run(place, request, { call, beforeStart }).finally(() => {
      listeners.clear();
      this.#running.delete(request.actionId);
    });
    const running: RunningExecution = { outcome, controller, listeners };
    this.#running.set(request.actionId, running);
    return running;
  }

  async #run(place: Place, request: ExecutionRequest, start: Start): Promise<Outcome> {
    const { signal } = start.call;
    const leave = await place.lane.enter(signal, request.tool, request.action).catch(() => undefined);
    if (leave === undefined) return this.#finish(place, request, cancelledBeforeStart, notStarted);
    try {
      return await this.#perform(place, request, start);
    } finally {
      leave();
    }
  }

  async #perform(place: Place, request: ExecutionRequest, { call, beforeStart }: Start): Promise<Outcome> {
    const opening = await settle(place.lane.instance(), call.signal, 0);
    if (opening.type === "overdue" || call.signal.aborted) {
      return this.#finish(place, request, cancelledBeforeStart, notStarted);
    }
    if (opening.type === "rejected") {
      return this.#finish(
        place,
        request,
        failure(`The tool could not be opened: ${describeError(opening.error)}`),
        notStarted,
      );
    }
    try {
      if (!place.face.isReadOnly && !(await this.#openJournal().start(request.actionId, request.tool)))
        return lost;
    } catch (error) {
      return failure(this.#journalProblem(error));
    }
    await beforeStart?.(call.signal);
    if (call.signal.aborted) return this.#finish(place, request, cancelledBeforeStart);
    return this.#finish(place, request, await this.#call(place.lane, opening.value, request, call));
  }

  async #call(
    lane: ToolLane,
    instance: ToolInstance,
    request: ExecutionRequest,
    call: ToolCall,
  ): Promise<Outcome> {
    const ending = await settle(started(instance, request, call), call.signal, this.#deps.cancelGraceMs);
    if (ending.type === "resolved") return { type: "observation", observation: ending.value };
    if (ending.type === "overdue") {
      lane.abandon();
      return cancelledByForce;
    }
    if (call.signal.aborted) return cancelledWhileRunning;
    if (ending.error instanceof ToolInputError) return failure(ending.error.message);
    return failure(`The tool failed unexpectedly: ${describeError(ending.error)}`);
  }

  /** Records the outcome. A tool that did run keeps its true outcome even when the disk refuses the record. */
  #finish(place: Place, request: ExecutionRequest, unmasked: Outcome, how = { isStarted: true }): Outcome {
    const outcome = maskOutcome(unmasked, request.secrets, [this.#deps.workspaceDir]);
    if (place.face.isReadOnly) {
      this.#remembered.add(request.actionId, outcome);
      return outcome;
    }
    try {
      this.#openJournal().finish(request.actionId, request.tool, outcome, how);
    } catch (error) {
      this.#unwritten.add(request.actionId, outcome);
      this.#deps.onWarning(this.#journalProblem(error));
    }
    return outcome;
  }

  #recall(actionId: string, isReadOnly: boolean): ExecutionRecord | undefined {
    const outcome = this.#remembered.get(actionId) ?? this.#unwritten.get(actionId);
    if (outcome !== undefined) return { type: "ended", outcome };
    if (isReadOnly) return undefined;
    if (this.#journal === undefined && !existsSync(this.#journalPath)) return undefined;
    return this.#openJournal().find(actionId);
  }

  get #journalPath(): string {
    return join(this.#deps.stateDir, "executions.sqlite");
  }

  #openJournal(): ExecutionJournal {
    const onUnsafe = (error: unknown): void => this.#deps.onWarning(this.#journalProblem(error));
    return (this.#journal ??= new ExecutionJournal({ path: this.#journalPath, onUnsafe }));
  }

  #journalProblem(error: unknown): string {
    return `The record of tool executions in ${this.#journalPath} cannot be used (${describeError(error)}). Free disk space or repair the file, then try again.`;
  }
}

const notStarted = { isStarted: false };

type Start = { readonly call: ToolCall; readonly beforeStart: ExecuteOptions["beforeStart"] };

type RunningExecution = {
  readonly outcome: Promise<Outcome>;
  readonly controller: AbortController;
  readonly listeners: Set<(text: string) => void>;
};

const lost = failure(
  "This call was started before the tool host restarted, so its outcome is unknown. It was not run again; check its effects before repeating it.",
);
const cancelledBeforeStart: Outcome = {
  type: "cancelled",
  text: "The call was cancelled before it started.",
};
const cancelledWhileRunning: Outcome = {
  type: "cancelled",
  text: "The call was cancelled while it ran; parts of it may have taken effect.",
};
const cancelledByForce: Outcome = {
  type: "cancelled",
  text: "The call was cancelled but did not stop in time, so its tool was restarted; parts of the call may have taken effect.",
};

function failure(text: string): Outcome {
  return { type: "error", text };
}

/** Waits for an execution as one of several callers: any caller's abort stops it, and all callers get its progress. */
async function follow(running: RunningExecution, options: ExecuteOptions): Promise<Outcome> {
  const { signal } = options;
  const onAbort = (): void => running.controller.abort();
  const onProgress = (text: string): void => options.onProgress?.(text);
  running.listeners.add(onProgress);
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await running.outcome;
  } finally {
    signal?.removeEventListener("abort", onAbort);
    running.listeners.delete(onProgress);
  }
}

/** A tool that throws synchronously becomes a rejected execution. */
async function started(instance: ToolInstance, request: ExecutionRequest, call: ToolCall) {
  return instance.execute(request.action, call);
}
