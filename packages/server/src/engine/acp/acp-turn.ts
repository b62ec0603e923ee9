import type {
  ContentBlock,
  PermissionOption,
  RequestPermissionOutcome,
  RequestPermissionRequest,
  SessionUpdate,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import { AcpFailure } from "../../extensions/acp/acp-failure.ts";
import type {
  ExternalAgent,
  PromptEnd,
  PromptListener,
  RecordedCall,
} from "../../extensions/acp/external-agent.ts";
import { isAllowed, rejectionOf } from "../../extensions/acp/permissions.ts";
import { agentError } from "../../events/call-answers.ts";
import type { EventDraft, StampedEvent } from "../../events/event-draft.ts";
import { failRun } from "../../events/state-update.ts";
import { describeError } from "../../lib/describe-error.ts";
import { denialText } from "../../security/rules/describe-rule.ts";
import type { RunDeps, TurnRules } from "../run/run-deps.ts";
import { storeEvents } from "../run/store-events.ts";
import { brokenCalls, callEvent, promptEnded } from "./acp-events.ts";
import { costUpdate, tokenUpdate } from "./acp-stats.ts";
import { decideCall, permissionEvents, type PermissionContext } from "./permission-events.ts";
import { GrantedCalls } from "./granted-calls.ts";
import { endOfPrompt } from "./prompt-end.ts";
import { toPermissionCall } from "./permission-call.ts";
import { TurnDeltas } from "./turn-deltas.ts";
import { TurnMapping, type Cost } from "./turn-mapping.ts";

const cancelledText = "The prompt was cancelled.";

/** Of a question that is ours and not the agent's. */
const ownOptions: readonly PermissionOption[] = [
  { optionId: "allow", name: "Allow once", kind: "allow_once" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];

/** How long an agent may take to end a prompt that was cancelled; then its program is ended. */
const cancelMs = 5_000;

/** One prompt of the other agent, from its record to that of its end. It outlives a run that waits for a person. */
export class AcpTurn implements PromptListener {
  /** Resolves when its end is recorded; never rejects. */
  readonly ended: Promise<void>;
  readonly #deps: RunDeps;
  readonly #agent: ExternalAgent;
  readonly #rules: TurnRules;
  readonly #mapping = new TurnMapping();
  readonly #granted = new GrantedCalls();
  readonly #deltas: TurnDeltas;
  readonly #closing = new AbortController();
  /** Everything that is stored, in order. */
  #writes: Promise<void> = Promise.resolve();
  #due = Promise.withResolvers<void>();
  #cut: { readonly keepsText: boolean; readonly drafts: readonly EventDraft[] } | null = null;
  #cancelTimer: NodeJS.Timeout | null = null;
  #idleTimer: NodeJS.Timeout | null = null;
  #isOver = false;

  constructor(deps: RunDeps, agent: ExternalAgent, rules: TurnRules, content: readonly ContentBlock[]) {
    this.#deps = deps;
    this.#agent = agent;
    this.#rules = rules;
    this.#deltas = new TurnDeltas(deps);
    this.ended = this.#run(content);
  }

  /** The message in progress; empty once it was cut off. */
  get text(): string {
    return this.#cut === null ? this.#mapping.text : "";
  }

  /** Resolves when the run has something to do: an action to start or to wait for, or the turn has ended. */
  async untilDue(): Promise<void> {
    for (const id of this.#agent.permissions.ids) if (!this.#isOpen(id)) this.#agent.permissions.reject(id);
    if (this.#deps.log.state.openActions.length > 0) return;
    await Promise.race([this.#due.promise, this.ended]);
    this.#due = Promise.withResolvers();
  }

  /**
   * Cancels the prompt; its end is recorded when the agent has ended it, or has been ended. `keepsText`: the message so far is stored
   * here, and not by the command that halts the run. `drafts` follow the end.
   */
  cancel(keepsText: boolean, drafts: readonly EventDraft[] = []): void {
    if (this.#cut !== null || this.#isOver) return;
    this.#cut = { keepsText, drafts };
    this.#deltas.cut();
    void this.#agent.cancel();
    this.#cancelTimer = setTimeout(() => void this.#agent.stop(), cancelMs);
  }

  /** Cancels the prompt without the record of an end: it is found as interrupted. A store that fails is not tried again. */
  close(): void {
    this.#closing.abort();
    this.cancel(true);
  }

  onUpdate(update: SessionUpdate): void {
    this.#watchIdle();
    this.#write(async () => {
      const { drafts, delta, ended, cost } = this.#mapping.map(update);
      // What is said after a halt is not heard; what is done is recorded.
      const isCurrent = this.#cut === null;
      const recorded = isCurrent ? drafts : drafts.filter(isCall);
      if (ended !== null) this.#deltas.end(ended);
      if (delta !== null && isCurrent) this.#deltas.push(delta);
      if (recorded.length > 0) await this.#store(() => recorded);
      if (cost !== null && isCurrent) await this.#count(cost);
      if (recorded.some(isCall)) this.#checkSteps();
    });
  }

  async onPermission({ options, toolCall }: RequestPermissionRequest): Promise<RequestPermissionOutcome> {
    const asked = Promise.withResolvers<RequestPermissionOutcome>();
    clearTimeout(this.#idleTimer ?? undefined);
    this.#write(async () => {
      if (this.#cut !== null) return asked.resolve({ outcome: "cancelled" });
      const call = this.#mapping.merge(toolCall);
      const before = this.#mapping.before(toolCall);
      const { drafts, isDenied } = permissionEvents(call, await this.#context());
      const stamped = await this.#store(() => [...before, ...drafts]);
      const action = stamped.find(({ event }) => event.kind === "ActionEvent");
      if (isDenied || action === undefined) return asked.resolve(rejectionOf(options));
      void this.#agent.permissions.wait(action.record.id, options).then(asked.resolve);
      this.#due.resolve();
    });
    const outcome = await asked.promise;
    if (isAllowed(options, outcome)) this.#granted.add(toPermissionCall(this.#mapping.merge(toolCall)));
    this.#watchIdle();
    return outcome;
  }

  async beginCall(call: RecordedCall): Promise<string | null> {
    const { kind, rawInput, title, toolCallId } = call;
    const toolCall: ToolCallUpdate = { toolCallId, title, kind: kind as "execute", rawInput };
    const read = toPermissionCall(toolCall);
    const { decision, isAsked } = decideCall(read, await this.#context());
    // To read a file needs a rule that asks: agents read many, and one that reads them itself asks nobody.
    const mustAsk = isAsked && (kind !== "read" || decision?.effect === "ask");
    if (mustAsk && !this.#granted.take(read)) return await this.#askFor(call, toolCall);
    const asked = Promise.withResolvers<string | null>();
    this.#write(async () => {
      if (this.#cut !== null) return asked.resolve(cancelledText);
      const facts = { id: toolCallId, title, kind, rawInput };
      const refusal = decision?.effect === "deny" ? denialText(decision) : null;
      await this.#store(() => [
        ...this.#mapping.flush(),
        callEvent(
          refusal === null
            ? { ...facts, status: "in_progress" }
            : { ...facts, status: "failed", rawOutput: refusal },
        ),
      ]);
      this.#checkSteps();
      asked.resolve(refusal);
    });
    return await asked.promise;
  }

  /** What the agent has us do without its own request for permission. The events of the request are those of its beginning. */
  async #askFor(call: RecordedCall, toolCall: ToolCallUpdate): Promise<string | null> {
    const outcome = await this.onPermission({ sessionId: "", options: [...ownOptions], toolCall });
    this.#checkSteps();
    if (outcome.outcome === "cancelled") return cancelledText;
    if (isAllowed(ownOptions, outcome)) {
      this.#granted.take(toPermissionCall(toolCall));
      return null;
    }
    const refusal = "This was not allowed.";
    await this.endCall(call, { output: refusal, isError: true });
    return refusal;
  }

  async endCall(
    { kind, rawInput, title, toolCallId }: RecordedCall,
    { output, isError }: { readonly output: unknown; readonly isError: boolean },
  ): Promise<void> {
    const status = isError ? "failed" : "completed";
    const facts = { id: toolCallId, title, kind, rawInput, rawOutput: output, status };
    this.#write(async () => {
      await this.#store(() => [callEvent(facts)]);
    });
    await this.#writes;
  }

  async #run(content: readonly ContentBlock[]): Promise<void> {
    this.#watchIdle();
    let end: PromptEnd | AcpFailure;
    try {
      end = await this.#agent.prompt(content, this);
    } catch (error) {
      end = error instanceof AcpFailure ? error : new AcpFailure("ACPPromptError", describeError(error));
    }
    clearTimeout(this.#cancelTimer ?? undefined);
    clearTimeout(this.#idleTimer ?? undefined);
    this.#write(() => this.#recordEnd(end));
    await this.#writes;
    this.#isOver = true;
    clearTimeout(this.#idleTimer ?? undefined);
  }

  async #recordEnd(end: PromptEnd | AcpFailure): Promise<void> {
    const cut = this.#cut;
    if (cut !== null && !cut.keepsText) this.#mapping.drop();
    const last = this.#mapping.flush(cut === null ? {} : { isInterrupted: true });
    this.#deltas.end(idOf(last));
    await this.#store(() => {
      const { log } = this.#deps;
      const { acp, openActions, status, stats } = log.state;
      const broken = brokenCalls(acp.calls, "The agent ended its turn during this call.");
      if (this.#closing.signal.aborted) return [...last, ...broken];
      const usage = end instanceof AcpFailure ? null : tokenUpdate(stats, end.usage, this.#model);
      return [
        ...last,
        ...broken,
        ...openActions.map((action) =>
          agentError(action, "The agent does not wait for this answer any more."),
        ),
        ...(usage === null ? [] : [usage]),
        promptEnded(end instanceof AcpFailure ? end.code : end.stopReason),
        ...endOfPrompt(end, { isCut: cut !== null, status, isWanted: log.state.runWantedSeq > 0 }),
        ...(cut !== null && log.state.status === "running" ? cut.drafts : []),
      ];
    });
  }

  /** Steps of the agent count like ours. */
  #checkSteps(): void {
    const { configuration, log } = this.#deps;
    const { max_iterations: max } = configuration.config;
    if (log.state.iterations <= max) return;
    const detail =
      `The agent made ${log.state.iterations} steps in this run, the limit is ${max}. ` +
      "Send a message or call run to continue.";
    this.cancel(true, failRun("MaxIterationsReached", detail));
  }

  async #count(cost: Cost): Promise<void> {
    const update = costUpdate(this.#deps.log.state.stats, cost, this.#model);
    if (update === null) return;
    await this.#store(() => [update]);
    const refusal = await this.#deps.budget.refusal();
    if (refusal !== null) this.cancel(true, failRun("MaxBudgetReached", refusal));
  }

  get #model(): string {
    return this.#deps.log.state.acp.session?.current_model_id ?? this.#agent.command;
  }

  /** An agent that says nothing for so long hangs; it does not while it waits for a person. */
  #watchIdle(): void {
    clearTimeout(this.#idleTimer ?? undefined);
    if (this.#isOver || this.#cut !== null) return;
    const seconds = this.#deps.configuration.config.agent.acp?.acp_prompt_timeout ?? 1800;
    this.#idleTimer = setTimeout(() => {
      if (this.#agent.permissions.ids.length > 0) return;
      const detail =
        `The agent "${this.#agent.command}" (acp_command) said nothing for ${seconds} s (acp_prompt_timeout), so its prompt ` +
        "was cancelled. Send a message to try again.";
      this.cancel(true, failRun("ACPPromptTimeout", detail));
    }, seconds * 1000);
  }

  async #context(): Promise<PermissionContext> {
    const { config } = this.#deps.configuration;
    const { rules } = await this.#rules.current();
    return { config, rules, places: this.#deps.rules.places(config) };
  }

  #isOpen(id: string): boolean {
    return this.#deps.log.state.openActions.some((action) => action.id === id);
  }

  /** In order; a failure to record cancels the prompt, because nothing may be done that is not recorded. */
  #write(work: () => Promise<void>): void {
    this.#writes = this.#writes.then(work).catch((error: unknown) => {
      this.#deps.logger.warn(
        { conversation: this.#deps.id, error: describeError(error) },
        "an event of the other agent was not recorded",
      );
      this.cancel(false);
    });
  }

  async #store(decide: () => readonly EventDraft[]): Promise<readonly StampedEvent[]> {
    let stored: readonly StampedEvent[] = [];
    await storeEvents(this.#deps, this.#closing.signal, decide, {
      meanwhile: (stamped) => (stored = stamped),
    });
    return stored;
  }
}

function isCall({ body }: EventDraft): boolean {
  return typeof body !== "function" && body.kind === "ACPToolCallEvent";
}

function idOf(drafts: readonly EventDraft[]): string | null {
  const [first] = drafts;
  if (first === undefined || typeof first.body === "function") return null;
  return first.body.kind === "MessageEvent" ? (first.body.llm_response_id ?? null) : null;
}
