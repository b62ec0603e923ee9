import type { ToolSession } from "@convoke/tool-host";
import { GrowingHistory } from "../agent/growing-history.ts";
import { receiveResponse } from "../agent/receive.ts";
import { createCallReader } from "../agent/tool-call.ts";
import { toModelTool } from "../agent/tool-schema.ts";
import type { EventDraft } from "../journal/event-draft.ts";
import type { ModelPart, ModelResponse } from "../models/model.ts";
import { failRun } from "./next-step.ts";
import { isWanted, type RunDeps } from "./run-deps.ts";
import { addUsage } from "./stats.ts";
import { storeEvents } from "./store-events.ts";
import { deltaFrame } from "./stream-delta.ts";

type LastPart = Extract<ModelPart, { type: "done" | "failed" | "aborted" }>;

/** The model calls of one run, one at a time. */
export class ModelCalls {
  readonly #deps: RunDeps;
  readonly #signal: AbortSignal;
  readonly #history = new GrowingHistory();
  #isOpen = false;

  constructor(deps: RunDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
  }

  /** True from the request to the moment its answer is recorded. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Asks about everything up to `sawSeq` and records the answer. Resolves without one when the run was taken away. */
  async make(sawSeq: number): Promise<void> {
    const session = await this.#deps.openSession();
    try {
      const parts = await this.#deps.post(() => this.#request(session, sawSeq));
      if (parts === null) return;
      const last = await this.#drain(parts);
      await storeEvents(
        this.#deps,
        this.#signal,
        () => this.#record(last, session, sawSeq),
        () => (this.#isOpen = false),
      );
    } finally {
      this.#isOpen = false;
    }
  }

  async #request(session: ToolSession, sawSeq: number): Promise<AsyncIterable<ModelPart> | null> {
    const view = await this.#deps.log.view();
    if (!isWanted(this.#deps, this.#signal)) return null;
    const request = {
      messages: this.#history.build(view, sawSeq),
      tools: session.tools.map(toModelTool),
      cacheKey: this.#deps.conversationId,
    };
    this.#isOpen = true;
    return this.#deps.openModel().stream(request, this.#signal);
  }

  #record(last: LastPart, session: ToolSession, sawSeq: number): readonly EventDraft[] {
    if (last.type === "done")
      return this.#signal.aborted ? [] : this.#receive(last.response, session, sawSeq);
    if (last.type === "failed" && isWanted(this.#deps, this.#signal)) {
      return failRun(last.error.code, last.error.detail);
    }
    return [];
  }

  #receive(response: ModelResponse, session: ToolSession, sawSeq: number): EventDraft[] {
    const config = this.#deps.config();
    return [
      ...receiveResponse(response, {
        sawSeq,
        readCall: createCallReader(session.tools, this.#deps.validator),
        analyzer: config.security_analyzer,
        policy: config.confirmation_policy,
      }),
      addUsage(this.#deps.log.state.stats, config.agent.llm, response),
    ];
  }

  /** Drains the stream to its last item and shows deltas to whoever listens. */
  async #drain(parts: AsyncIterable<ModelPart>): Promise<LastPart> {
    const { config, conversationId, log, logger, signals } = this.#deps;
    const isStreamed = config().agent.llm.stream === true;
    for await (const part of parts) {
      switch (part.type) {
        case "done":
        case "failed":
        case "aborted":
          return part;
        case "retry":
          logger.warn(
            { conversation: conversationId, attempt: part.attempt, code: part.error.code },
            "model call failed, trying again",
          );
          break;
        case "text":
        case "reasoning":
          if (isStreamed && signals.isHeard) signals.emit(log.mask(deltaFrame(part)));
          break;
        case "tool-arguments":
          break;
      }
    }
    return { type: "aborted" };
  }
}
