import type { LLM } from "@convoke/protocol";
import type { ToolListing } from "@convoke/tool-host";
import { withRequestMeta, type PreparedRequest } from "../../agent/agent-requests.ts";
import { maxCondensations, sinceLastAnswer, type Condensed } from "../../agent/condense/condensing.ts";
import { criticised } from "../../agent/critic/criticised.ts";
import { condenserSettings } from "../../agent/condense/condenser-settings.ts";
import type { ViewEvent } from "../../agent/history-view.ts";
import { repairAfter } from "../../agent/history-repairs.ts";
import { endingTool } from "../../agent/answer-form.ts";
import type { ReceiveContext } from "../../agent/receive.ts";
import { receiveAnswer } from "../../agent/structured-answer.ts";
import { withOwnId } from "../../agent/response-id.ts";
import { toolsUpdate, upToDate } from "../../agent/tools-update.ts";
import { createCallReader } from "../../agent/tool-call.ts";
import type { EventDraft, StampedEvent } from "../../events/event-draft.ts";
import { callsIn } from "../../models/calls-in.ts";
import type { Adjustment, ModelError, ModelPart, ModelResponse, SpentAttempt } from "../../models/model.ts";
import { readsPrediction } from "../../security/analyzers/analyzer.ts";
import { decideByRules } from "../../security/rules/decide-by-rules.ts";
import { condensedDrafts } from "./condense-now.ts";
import {
  adjustedEvents,
  completionLogEvent,
  retryUpdate,
  serversAwaited,
  tokenEvents,
} from "./model-events.ts";
import { endRetry, failRun } from "../../events/state-update.ts";
import { hasReviewer } from "./reviews.ts";
import { isWanted, type RunDeps } from "./run-deps.ts";
import { projectWarnings, type CurrentRules, type RunRules } from "./run-rules.ts";
import { addCalls } from "../state/stats.ts";
import type { ToolBelt } from "../tool-belt.ts";
import { answerSchema, shownTools, type ShownTools } from "./shown-tools.ts";
import { storeEvents, type Following } from "./store-events.ts";
import { openDeltas, type DeltaEnd, type DeltaStream } from "./stream-delta.ts";

/** Either a stream of an answer, or a condensation that must come first. */
type Begun =
  | {
      readonly parts: AsyncIterable<ModelPart>;
      readonly prepared: PreparedRequest;
      readonly llm: LLM;
      readonly shown: ShownTools;
    }
  | { readonly room: Promise<Condensed | null> };

type Asked = Extract<Begun, { parts: unknown }>;
type LastPart = Extract<ModelPart, { type: "done" | "failed" | "aborted" }>;

export type ModelCallsOptions = { readonly following: Following; readonly rules: RunRules };

/** The model calls of one run, one at a time. */
export class ModelCalls {
  readonly #deps: RunDeps;
  readonly #signal: AbortSignal;
  readonly #following: Following;
  readonly #rules: RunRules;
  #isOpen = false;
  #sawSeq = 0;
  #answerText = "";
  #leaving = new AbortController();
  /** The tools that were last compared with the log. */
  #listedTools: readonly ToolListing[] | null = null;
  #shown: ShownTools | null = null;

  /** `following` returns the drafts of the same commit as the answer, from the state after it. */
  constructor(deps: RunDeps, signal: AbortSignal, { following, rules }: ModelCallsOptions) {
    this.#deps = deps;
    this.#signal = signal;
    this.#following = following;
    this.#rules = rules;
    signal.addEventListener("abort", () => deps.condensing.abort(), { once: true });
  }

  /** True during the last attempt of a call. */
  leave(): void {
    this.#leaving.abort();
  }

  /** True from the request to the moment its answer is recorded. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The highest `seq` in the current request; 0 without one. */
  get beingReadSeq(): number {
    return this.#isOpen ? this.#sawSeq : 0;
  }

  /** The text of the answer in progress. */
  get answerText(): string {
    return this.#isOpen ? this.#answerText : "";
  }

  /**
   * Requests an answer to everything up to `sawSeq` and records it. If a condensation is due, records that instead;
   * the next step asks again. Resolves without either if the run was halted.
   */
  async make(sawSeq: number): Promise<void> {
    const session = await this.#deps.session.open();
    // More messages may have arrived: the next request includes them.
    if (await this.#hasWaited(session)) return;
    try {
      const begun = await this.#deps.queue.post(() => this.#begin(session, sawSeq));
      if (begun === null) return;
      if ("room" in begun) {
        await this.#condense(begun.room);
        return;
      }
      const { last, beside, adjustments } = await this.#drain(begun.parts, begun.prepared.usedIds);
      const rules = await this.#rules.current();
      await storeEvents(
        this.#deps,
        this.#signal,
        async () => [
          ...(await this.#record(last, session, { ...begun, rules })),
          ...this.#wanted(beside),
          ...this.#wanted(this.#newWarnings(adjustments, rules)),
          ...endRetry(this.#deps.log.state),
        ],
        {
          onStored: () => (this.#isOpen = false),
          following: this.#following,
          meanwhile: (stamped) => this.#announce(session, stamped),
        },
      );
    } finally {
      this.#isOpen = false;
    }
  }

  /** Waits for tools that are opening; true if that was long enough to be logged. */
  async #hasWaited(session: ToolBelt): Promise<boolean> {
    const writes: Promise<void>[] = [];
    await session.ready(this.#signal, (servers) => {
      writes.push(this.#store(() => [serversAwaited(servers)]));
    });
    await Promise.all(writes);
    if (writes.length > 0) await this.#store(() => endRetry(this.#deps.log.state));
    return writes.length > 0;
  }

  async #store(drafts: () => Promise<readonly EventDraft[]> | readonly EventDraft[]): Promise<void> {
    await storeEvents(this.#deps, this.#signal, () => (isWanted(this.#deps, this.#signal) ? drafts() : []));
  }

  async #begin(session: ToolBelt, sawSeq: number): Promise<Begun | null> {
    const { condensing, configuration, id, log, models, requests } = this.#deps;
    const view = await log.view();
    if (!isWanted(this.#deps, this.#signal)) return null;
    const { agent, security_analyzer: analyzer } = configuration.config;
    const shown = this.#shownTools(session.tools);
    const prepared = requests(view).prepare({
      view,
      sawSeq,
      tools: shown.tools,
      asksForRisk: readsPrediction(analyzer),
      model: agent.llm.model ?? "",
      cacheKey: id,
    });
    this.#isOpen = true;
    this.#sawSeq = sawSeq;
    this.#answerText = "";
    // Queued messages are being read.
    this.#deps.signals.emitChange();
    const room = condensing.before({ ...prepared, settings: condenserSettings(agent), view });
    if (room !== null) return { room };
    this.#leaving = new AbortController();
    const request = { ...prepared.request, leaving: this.#leaving.signal };
    const parts = models.openOwn().stream(request, this.#signal);
    return { parts, prepared, llm: agent.llm, shown };
  }

  async #condense(room: Promise<Condensed | null>): Promise<void> {
    const condensed = await room;
    if (condensed !== null) await this.#store(() => condensedDrafts(condensed, this.#deps.log));
  }

  async #record(
    last: LastPart,
    session: ToolBelt,
    { prepared, llm, shown, rules }: Asked & { readonly rules: CurrentRules },
  ): Promise<readonly EventDraft[]> {
    const spent = this.#usageUpdate(callsIn(last), llm);
    if (last.type === "done" && !this.#signal.aborted)
      return [...this.#receive(last.response, session, { ...prepared, shown, rules }), ...spent];
    if (last.type !== "failed" || !isWanted(this.#deps, this.#signal)) return spent;
    return [...this.#afterFailure(last.error, await this.#deps.log.view(), prepared.meta), ...spent];
  }

  /** A single call without approval starts as soon as it is stored. */
  #announce(session: ToolBelt, stamped: readonly StampedEvent[]): void {
    const { hooks, log } = this.#deps;
    if (hooks.gate !== null) return;
    const actions = stamped.filter(({ event }) => event.kind === "ActionEvent");
    const [only] = actions;
    if (only?.event.kind !== "ActionEvent" || actions.length > 1 || only.meta.gate !== "approved") return;
    if (log.state.openActions.length === 0) session.announce(only.record.id, only.event.tool_name);
  }

  /** Under the usage id of the requested model; the agent's model may have changed since. */
  #usageUpdate(calls: readonly SpentAttempt[], llm: LLM): readonly EventDraft[] {
    return calls.length === 0 ? [] : [addCalls(this.#deps.log.state.stats, llm, calls)];
  }

  /** Each is logged once. */
  #newWarnings(adjustments: readonly Adjustment[], { problems }: CurrentRules): readonly EventDraft[] {
    const { toldAdjustments: known } = this.#deps.log.state;
    return [...adjustedEvents(adjustments, known), ...projectWarnings(problems, known)];
  }

  /** Drafts beside an answer are dropped if the run was halted. */
  #wanted(drafts: readonly EventDraft[]): readonly EventDraft[] {
    return this.#signal.aborted ? [] : drafts;
  }

  /** A request that was too long, or contained something that the provider refuses, is repeated in another form. */
  #afterFailure(
    error: ModelError,
    view: readonly ViewEvent[],
    meta: PreparedRequest["meta"],
  ): readonly EventDraft[] {
    const isTooLong = error.code === "LLMContextWindowExceedError";
    const canCondense = condenserSettings(this.#deps.configuration.config.agent) !== null;
    if (isTooLong && canCondense && sinceLastAnswer(view).overflows < maxCondensations)
      return withRequestMeta([{ body: { kind: "CondensationRequest", source: "environment" } }], meta);
    const repair = repairAfter(error, view);
    if (repair !== null) return withRequestMeta([repair], meta);
    const drafts = failRun(error.code, error.detail);
    return [...drafts.slice(0, -1), ...withRequestMeta(drafts.slice(-1), meta)];
  }

  #shownTools(tools: readonly ToolListing[]): ShownTools {
    const { configuration, log } = this.#deps;
    this.#shown = shownTools(tools, answerSchema(configuration.config, log.state), this.#shown);
    return this.#shown;
  }

  #receive(
    response: ModelResponse,
    session: ToolBelt,
    {
      condensed: view,
      meta,
      rules: { rules },
      shown: { tools, form },
    }: PreparedRequest & { readonly rules: CurrentRules; readonly shown: ShownTools },
  ): EventDraft[] {
    const { config } = this.#deps.configuration;
    const places = this.#deps.rules.places(config);
    // Compared once per run: digest and log mark cost more than the rest of the step.
    const update = session.tools === this.#listedTools ? upToDate : toolsUpdate(view, session.tools);
    this.#listedTools = session.tools;
    const context: ReceiveContext = {
      sawSeq: meta.request!.sawSeq!,
      readCall: createCallReader(tools, this.#deps.validator),
      analyzer: config.security_analyzer,
      policy: config.confirmation_policy,
      hasReviewer: hasReviewer(config),
      decide: ({ tool, action }, { risk }) =>
        decideByRules(rules, { toolName: tool.name, action, risk, places }).decision,
    };
    const { refusedAnswers: refusals } = this.#deps.log.state;
    const turn = form && { form, finish: endingTool(tools), refusals, view };
    const received = receiveAnswer(response, context, turn);
    return [
      ...withRequestMeta(
        criticised(received, config.agent.critic, view),
        { ...meta, ...update.meta },
        response.usage.promptTokens,
      ),
      ...tokenEvents(response),
      ...update.drafts,
    ];
  }

  /**
   * Reads the stream to its end, publishes deltas to subscribers and retry waits to everyone; stores `beside` with
   * the answer.
   */
  async #drain(
    parts: AsyncIterable<ModelPart>,
    usedIds: ReadonlySet<string>,
  ): Promise<{ last: LastPart; beside: EventDraft[]; adjustments: readonly Adjustment[] }> {
    const beside: EventDraft[] = [];
    const adjustments: Adjustment[] = [];
    const { id, logger } = this.#deps;
    let deltas = this.#openDeltas();
    for await (const part of parts) {
      switch (part.type) {
        case "done":
        case "failed":
        case "aborted": {
          const last = part.type === "done" ? { ...part, response: withOwnId(part.response, usedIds) } : part;
          deltas?.end(this.#endOf(last));
          return { last, beside, adjustments };
        }
        case "adjusted":
          adjustments.push(part.adjustment);
          break;
        case "log":
          beside.push(completionLogEvent(part.log));
          break;
        case "retry":
          this.#answerText = "";
          deltas?.end({ outcome: "void" });
          deltas = this.#openDeltas();
          logger.warn(
            { conversation: id, attempt: part.attempt, code: part.error.code },
            "model call failed, trying again",
          );
          await this.#store(() => [retryUpdate(part)]);
          break;
        case "text":
          this.#answerText += part.text;
          deltas?.push(part);
          break;
        case "reasoning":
        case "tool-arguments":
          deltas?.push(part);
          break;
      }
    }
    return { last: { type: "aborted" }, beside, adjustments };
  }

  /** Null if nobody follows the streamed answer. */
  #openDeltas(): DeltaStream | null {
    const isFollowed = this.#deps.configuration.config.agent.llm.stream === true;
    return isFollowed ? openDeltas(this.#deps) : null;
  }

  #endOf(last: LastPart): DeltaEnd {
    if (last.type === "failed") return { outcome: "void" };
    if (last.type === "aborted" || this.#signal.aborted) return { outcome: "cut" };
    return { outcome: "done", llmResponseId: last.response.id };
  }
}
