import type { Action, Message } from "@convoke/protocol";
import type { Outcome } from "@convoke/tool-host";
import type { HookRecord, HookRunner, HookVerdict } from "../extensions/hooks/hook-runner.ts";
import type { EventDraft } from "../events/event-draft.ts";
import { Fault } from "../lib/fault.ts";
import type { Model } from "../models/model.ts";
import type { OpenAction } from "./state/conversation-state.ts";

/** Context that hooks add to a message. */
export type Admitted = { readonly records: readonly EventDraft[]; readonly contexts: readonly string[] };

/** The verdict of hooks at one point: whether to continue, why not, and their records for the log. */
export type Gated = {
  readonly isBlocked: boolean;
  readonly reason: string;
  readonly drafts: readonly EventDraft[];
};

const endTimeoutMs = 10_000;

/** Stores the records of hooks. */
export interface HookRecords {
  /** How the log records a hook that ran. */
  toDraft(record: HookRecord): EventDraft;
  /** Appends to the log through the mailbox. */
  notify(draft: EventDraft): void;
}

/** The hooks that a conversation has now: a plugin that is added later brings more. */
export class HookSlot implements AsyncDisposable {
  #gate: HookGate | null;
  readonly #retired: HookGate[] = [];

  constructor(gate: HookGate | null) {
    this.#gate = gate;
  }

  /** Null when the conversation has no hooks. */
  get gate(): HookGate | null {
    return this.#gate;
  }

  /** What is asked at this moment is still answered by the hooks of before. */
  replace(gate: HookGate | null): void {
    if (this.#gate !== null) this.#retired.push(this.#gate);
    this.#gate = gate;
  }

  /** Ends the hooks of before; the present ones have an end of their own. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#retired.splice(0).map((gate) => gate[Symbol.asyncDispose]()));
  }
}

/** The conversation as hooks see it. */
export interface HookSurroundings {
  openModel(): Model;
  /** Aborts when another process takes the conversation over: see {@link HookRunner}. */
  readonly lost: AbortSignal;
  /** Adds to the log when the conversation comes to it. */
  notify(draft: EventDraft): void;
}

/** Runs the hooks of a conversation at their points. */
export class HookGate implements AsyncDisposable {
  readonly #runner: HookRunner;
  readonly #records: HookRecords;
  #isStarted = false;

  constructor(runner: HookRunner, records: HookRecords) {
    this.#runner = runner;
    this.#records = records;
  }

  /** Called before a message is stored: a refused message never enters the log, so no model reads it (W8). */
  async admit(message: Message): Promise<Admitted> {
    const signal = new AbortController().signal;
    const isFirst = !this.#isStarted;
    this.#isStarted = true;
    const started = isFirst ? await this.#runner.run("session_start", {}, signal) : null;
    const text = (message.content ?? []).map((part) => ("text" in part ? part.text : "")).join("\n");
    const verdict = await this.#runner.run("user_prompt_submit", { message: text }, signal);
    const records = [...(started === null ? [] : this.#draftsOf(started)), ...this.#draftsOf(verdict)];
    if (!verdict.isBlocked) return { records, contexts: verdict.contexts };
    for (const draft of records) this.#records.notify(draft);
    throw new Fault("refused", "hook_denied", `A hook rejected this message: ${verdict.reason ?? ""}`.trim());
  }

  async beforeTool(open: OpenAction, action: Action, signal: AbortSignal): Promise<Gated> {
    const subject = { toolName: open.toolName, toolInput: action, actionId: open.id };
    return this.#gatedBy(await this.#runner.run("pre_tool_use", subject, signal));
  }

  /** Called with the result of a tool; decides nothing. */
  async afterTool(
    open: OpenAction,
    action: Action,
    outcome: Outcome,
    signal: AbortSignal,
  ): Promise<readonly EventDraft[]> {
    if (outcome.type !== "observation") return [];
    const subject = {
      toolName: open.toolName,
      toolInput: action,
      toolResponse: outcome.observation,
      actionId: open.id,
    };
    return this.#draftsOf(await this.#runner.run("post_tool_use", subject, signal));
  }

  /** True if there are hooks for the end of a run. */
  get guardsStop(): boolean {
    return this.#runner.has("stop");
  }

  async beforeStop(signal: AbortSignal): Promise<Gated> {
    const verdict = await this.#runner.run("stop", { metadata: { reason: "agent_finished" } }, signal);
    const feedback = verdict.contexts.length > 0 ? verdict.contexts.join("\n") : (verdict.reason ?? "");
    return { ...this.#gatedBy(verdict), reason: feedback };
  }

  /** Called when the session ends: its hooks get a few seconds; returns their records. */
  async end(): Promise<readonly EventDraft[]> {
    if (!this.#isStarted) return [];
    this.#isStarted = false;
    return this.#draftsOf(await this.#runner.run("session_end", {}, AbortSignal.timeout(endTimeoutMs)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#runner[Symbol.asyncDispose]();
  }

  #gatedBy(verdict: HookVerdict): Gated {
    return { isBlocked: verdict.isBlocked, reason: verdict.reason ?? "", drafts: this.#draftsOf(verdict) };
  }

  #draftsOf({ records }: HookVerdict): EventDraft[] {
    return records.map((record) => this.#records.toDraft(record));
  }
}
