import type { Validator } from "@convoke/protocol/validate";
import type { Outcome, ToolSecret, ToolSession } from "@convoke/tool-host";
import { GrowingHistory } from "../agent/growing-history.ts";
import { receiveResponse } from "../agent/receive.ts";
import { isStuck } from "../agent/stuck.ts";
import { createCallReader } from "../agent/tool-call.ts";
import { toModelTool } from "../agent/tool-schema.ts";
import { LeaseLostError, SeqConflictError } from "../journal/journal.ts";
import type { EventDraft } from "../journal/event-draft.ts";
import { Fault } from "../lib/fault.ts";
import type { Logger } from "../lib/logger.ts";
import { wait } from "../lib/wait.ts";
import type { Model, ModelPart, ModelResponse } from "../models/model.ts";
import { resolveSecrets } from "../security/secret-sources.ts";
import { answerAction } from "./answer.ts";
import type { ConversationConfig, ConversationSecrets } from "./conversation-config.ts";
import type { ConversationLog } from "./conversation-log.ts";
import type { OpenAction } from "./conversation-state.ts";
import { failRun, nextStep, type Step } from "./next-step.ts";
import { ownedElsewhere } from "./refusals.ts";
import type { Signals } from "./signals.ts";
import { deltaFrame } from "./stream-delta.ts";
import { addUsage } from "./stats.ts";

export type RunDeps = {
  readonly conversationId: string;
  readonly log: ConversationLog;
  /** Runs a job in the conversation's mailbox; everything that reads or writes the log happens there. */
  readonly post: <Result>(job: () => Promise<Result> | Result) => Promise<Result>;
  readonly openSession: () => Promise<ToolSession>;
  readonly openModel: () => Model;
  readonly config: () => ConversationConfig;
  readonly secrets: () => ConversationSecrets;
  readonly signals: Signals;
  readonly validator: Validator;
  readonly logger: Logger;
};

/** One pass of the turn machine after another until the log says that the run is over. Effects only: decisions are in `nextStep`. */
export class Run {
  /** Resolves when nothing of this run is in progress any more; never rejects. */
  readonly ended: Promise<void>;
  readonly #deps: RunDeps;
  readonly #effects = new AbortController();
  readonly #history = new GrowingHistory();
  #isLeaving = false;
  /** What was handed to the model or to a tool host and has not been recorded yet. */
  #effect: { readonly actionId: string | null } | null = null;

  constructor(deps: RunDeps) {
    this.#deps = deps;
    this.ended = this.#drive();
  }

  /** True while a model call or a tool is in progress that nobody has cut off. */
  get isWorking(): boolean {
    return this.#effect !== null && !this.#isLeaving;
  }

  /** The action that a tool works on at this moment; it may have had effects already. */
  get executingId(): string | null {
    return this.#effect?.actionId ?? null;
  }

  /** Cuts off the model call and the tool in progress; their results are no longer wanted. */
  abort(): void {
    this.#isLeaving = true;
    this.#effects.abort();
  }

  /** Cuts off, but what a tool has done until now is still recorded. */
  close(): void {
    this.abort();
  }

  async #drive(): Promise<void> {
    try {
      for (;;) {
        const step = await this.#deps.post(() => this.#next());
        if (step === null) return;
        if (step.type === "execute") await this.#execute(step.action);
        else await this.#request(step.sawSeq);
      }
    } catch (error) {
      await this.#fail(error);
    }
  }

  async #next(): Promise<Exclude<Step, { type: "settle" | "leave" }> | null> {
    if (this.#isLeaving) return null;
    const { log } = this.#deps;
    const config = this.#deps.config();
    const step = nextStep(log.state, {
      maxIterations: config.max_iterations,
      isStuck: config.stuck_detection && isStuck(await log.view(), log.state.runStartSeq),
    });
    if (step.type === "leave") return null;
    if (step.type !== "settle") return step;
    await this.#append(step.drafts);
    return null;
  }

  async #execute(action: OpenAction): Promise<void> {
    const outcome = await this.#outcomeOf(action);
    if (outcome === null) return;
    await this.#deps.post(async () => {
      this.#effect = null;
      const isOpen = this.#deps.log.state.openActions.some(({ id }) => id === action.id);
      if (!isOpen) return;
      await this.#append([answerAction(action, outcome)]);
    });
  }

  /**
   * Idempotent at the host: a finished execution answers from its record, a lost one says so, none runs twice. Null when
   * the client took the run or the action away before the tool could start.
   */
  async #outcomeOf(action: OpenAction): Promise<Outcome | null> {
    try {
      const session = await this.#deps.openSession();
      const view = await this.#deps.post(() => this.#deps.log.view());
      const event = view.findLast(({ seq }) => seq === action.seq)?.event;
      if (event?.kind !== "ActionEvent" || !event.action) {
        return { type: "error", text: "The stored action of this call cannot be read, so it was not run." };
      }
      const secrets = await this.#resolveSecrets();
      const request = { actionId: action.id, tool: action.toolName, action: event.action, secrets };
      // Handed over inside the mailbox, so that nothing starts after a pause or a rejection was acknowledged (P43).
      const execution = await this.#deps.post(() => {
        const isOpen = this.#deps.log.state.openActions.some(({ id }) => id === action.id);
        if (!this.#isWanted || !isOpen) return null;
        this.#effect = { actionId: action.id };
        return { outcome: session.execute(request, { signal: this.#effects.signal }) };
      });
      return execution === null ? null : await execution.outcome;
    } catch (error) {
      this.#deps.logger.error(
        { conversation: this.#deps.conversationId, error: String(error) },
        "tool session failed",
      );
      return { type: "error", text: `The workspace could not run this call: ${messageOf(error)}` };
    }
  }

  async #resolveSecrets(): Promise<ToolSecret[]> {
    return await resolveSecrets(this.#deps.secrets().sources, this.#effects.signal, (name, reason) => {
      this.#deps.logger.warn(
        { conversation: this.#deps.conversationId, secret: name, reason },
        "secret lookup failed",
      );
    });
  }

  async #request(sawSeq: number): Promise<void> {
    const session = await this.#deps.openSession();
    const parts = await this.#deps.post(async () => {
      const view = await this.#deps.log.view();
      if (!this.#isWanted) return null;
      const request = {
        messages: this.#history.build(view, sawSeq),
        tools: session.tools.map(toModelTool),
        cacheKey: this.#deps.conversationId,
      };
      this.#effect = { actionId: null };
      return this.#deps.openModel().stream(request, this.#effects.signal);
    });
    if (parts === null) return;
    const last = await this.#stream(parts);
    await this.#deps.post(async () => {
      this.#effect = null;
      if (last.type === "done") await this.#receive(last.response, session, sawSeq);
      if (last.type === "failed" && this.#isWanted) {
        await this.#append(failRun(last.error.code, last.error.detail));
      }
    });
  }

  /** False once a client took the run away; asked inside the mailbox. */
  get #isWanted(): boolean {
    return !this.#isLeaving && this.#deps.log.state.status === "running";
  }

  async #receive(response: ModelResponse, session: ToolSession, sawSeq: number): Promise<void> {
    if (this.#isLeaving) return;
    const config = this.#deps.config();
    const stats = addUsage(this.#deps.log.state.stats, config.agent.llm, response);
    await this.#append([
      ...receiveResponse(response, {
        sawSeq,
        readCall: createCallReader(session.tools, this.#deps.validator),
        analyzer: config.security_analyzer,
        policy: config.confirmation_policy,
      }),
      stats,
    ]);
  }

  /** Drains the stream to its last item and shows deltas to whoever listens. */
  async #stream(
    parts: AsyncIterable<ModelPart>,
  ): Promise<Extract<ModelPart, { type: "done" | "failed" | "aborted" }>> {
    const isStreamed = this.#deps.config().agent.llm.stream === true;
    for await (const part of parts) {
      switch (part.type) {
        case "done":
        case "failed":
        case "aborted":
          return part;
        case "retry":
          this.#deps.logger.warn(
            { conversation: this.#deps.conversationId, attempt: part.attempt, code: part.error.code },
            "model call failed, trying again",
          );
          break;
        case "text":
        case "reasoning":
          if (isStreamed && this.#deps.signals.isHeard)
            this.#deps.signals.emit(this.#deps.log.mask(deltaFrame(part)));
          break;
        case "tool-arguments":
          break;
      }
    }
    return { type: "aborted" };
  }

  /** An unexpected failure ends the run visibly; the log stays true. */
  async #fail(error: unknown): Promise<void> {
    const { conversationId, logger, log, post } = this.#deps;
    if (error instanceof Fault && error.code === ownedElsewhere().code) {
      logger.warn(
        { conversation: conversationId, error: error.message },
        "another process took the conversation over",
      );
      return;
    }
    logger.error({ conversation: conversationId, error: String(error) }, "run failed");
    try {
      await post(async () => {
        if (log.state.status === "running")
          await this.#append(
            failRun(error instanceof Fault ? error.code : "InternalError", messageOf(error)),
          );
      });
    } catch (failure) {
      logger.error(
        { conversation: conversationId, error: String(failure) },
        "the failure could not be recorded",
      );
    }
  }

  /** Tries until the store takes it: a full disk must not lose a result that exists only here. */
  async #append(drafts: readonly EventDraft[]): Promise<void> {
    for (let delayMs = 100; ; delayMs = Math.min(delayMs * 2, 5000)) {
      try {
        await this.#deps.log.append(drafts);
        return;
      } catch (error) {
        const isOver =
          error instanceof LeaseLostError || error instanceof SeqConflictError || this.#isLeaving;
        if (isOver) throw error;
        this.#deps.logger.error(
          { conversation: this.#deps.conversationId, error: String(error), retryInMs: delayMs },
          "events could not be stored",
        );
        await wait(delayMs, this.#effects.signal);
      }
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
