import type { Action } from "@convoke/protocol";
import type { Outcome, ToolListing, ToolSecret } from "@convoke/tool-host";
import type { ViewEvent } from "../../agent/history.ts";
import { rejection } from "../../events/call-answers.ts";
import { resolveSecrets } from "../../security/secret-sources.ts";
import { answerAction } from "./answer.ts";
import { claimOf, startable } from "./claims.ts";
import type { OpenAction } from "../state/conversation-state.ts";
import { describeError } from "../../lib/describe-error.ts";
import { isWanted, type RunDeps } from "./run-deps.ts";
import { storeEvents } from "./store-events.ts";
import type { ToolBelt } from "../tool-belt.ts";
import { progressOf } from "./tool-progress.ts";

/**
 * Thrown by a tool whose work continues without this process: the call stays open, and the next process repeats it.
 */
export class LeftOpenError extends Error {
  override readonly name = "LeftOpenError";

  constructor(options?: ErrorOptions) {
    super("The call continues without this process.", options);
  }
}

type Ended = { readonly error: unknown } | null;

/** The tool calls of one run, concurrent if their claims allow it; each answer is stored as it arrives. */
export class Executions {
  readonly #deps: RunDeps;
  readonly #signal: AbortSignal;
  readonly #tasks = new Map<string, Promise<Ended>>();
  readonly #executing = new Set<string>();
  /** The tools that the last session listed. */
  #tools: readonly ToolListing[] = [];

  constructor(deps: RunDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
  }

  /** Actions that were given to a tool host and have no stored answer; they may have had effects. */
  get executing(): ReadonlySet<string> {
    return this.#executing;
  }

  get isEmpty(): boolean {
    return this.#tasks.size === 0;
  }

  /** Starts the open actions that may start now. */
  async begin(open: readonly OpenAction[]): Promise<void> {
    const session = await this.#openSession();
    const view = await this.#deps.queue.post(() => this.#deps.log.view());
    const listings = new Map((session?.tools ?? []).map((listing) => [listing.name, listing]));
    const { agent, max_budget_per_task: budget = null } = this.#deps.configuration.config;
    // Each task may spend the remaining budget, which two at once would spend twice.
    const oneTask = budget !== null;
    const claims = open.map((action) =>
      claimOf(
        {
          ...action,
          action: actionAt(view, action),
          isOfClient: this.#deps.clientCalls.isAwaited(action.toolName),
        },
        listings.get(action.toolName),
        oneTask,
      ),
    );
    const limit = agent.tool_concurrency_limit;
    const ids = startable(claims, new Set(this.#tasks.keys()), limit);
    for (const action of open.filter(({ id }) => ids.includes(id))) {
      const task = this.#execute(action, actionAt(view, action))
        .then(
          () => null,
          (error: unknown): Ended => ({ error }),
        )
        .finally(() => this.#tasks.delete(action.id));
      this.#tasks.set(action.id, task);
    }
  }

  /** Resolves when one of them has ended, immediately if there is none; rejects with its error, if any. */
  async next(): Promise<void> {
    const ended = this.isEmpty ? null : await Promise.race(this.#tasks.values());
    if (ended !== null) throw ended.error;
  }

  /** Resolves when all have ended. */
  async all(): Promise<void> {
    await Promise.all(this.#tasks.values());
  }

  /** Null if it cannot be opened; each call then gets the error as its answer. */
  async #openSession(): Promise<ToolBelt | null> {
    try {
      return await this.#deps.session.open();
    } catch {
      // Retried and reported by the execution.
      return null;
    }
  }

  async #execute(open: OpenAction, action: Action | null): Promise<void> {
    try {
      const isHandedOver = open.resultDeadlineMs !== undefined;
      if (action !== null && !isHandedOver && (await this.#isDenied(open, action))) return;
      const isOfClient = action !== null && this.#deps.clientCalls.isAwaited(open.toolName);
      const outcome = isOfClient ? await this.#resultOf(open) : await this.#outcomeOf(open, action);
      if (outcome === null) return;
      await storeEvents(
        this.#deps,
        this.#signal,
        () => (this.#isOpen(open) ? [answerAction(open, outcome, this.#tools)] : []),
        { onStored: () => this.#executing.delete(open.id) },
      );
      if (action !== null) await this.#notifyHooks(open, action, outcome);
    } finally {
      this.#executing.delete(open.id);
    }
  }

  /**
   * Idempotent at the host: a finished execution is answered from its record, a lost one is reported as lost, none
   * runs twice. Null if a client halted the run or settled the action before the tool started, or if another process
   * will continue it.
   */
  async #outcomeOf(open: OpenAction, action: Action | null): Promise<Outcome | null> {
    if (action === null) {
      return { type: "error", text: "The stored action of this call cannot be read, so it was not run." };
    }
    try {
      const session = await this.#deps.session.open();
      this.#tools = session.tools;
      const secrets = await this.#resolveSecrets();
      const request = { actionId: open.id, tool: open.toolName, action, secrets };
      // Started inside the mailbox, so that nothing starts after a pause or rejection was acknowledged (P43).
      const execution = await this.#deps.queue.post(() => {
        if (!isWanted(this.#deps, this.#signal) || !this.#isOpen(open)) return null;
        this.#executing.add(open.id);
        const onProgress = progressOf(this.#deps, open.id);
        return { outcome: session.execute(request, { signal: this.#signal, onProgress }) };
      });
      return execution === null ? null : await execution.outcome;
    } catch (error) {
      if (error instanceof LeftOpenError) return null;
      this.#deps.logger.error({ conversation: this.#deps.id, error: String(error) }, "tool session failed");
      const text = this.#deps.earlier.mayHaveBegun(open.id)
        ? `The workspace cannot be reached (${describeError(error)}), and this call was in progress when the server stopped: its outcome is unknown. It was not run again; check what it has done before repeating it.`
        : `The workspace could not run this call: ${describeError(error)}`;
      return { type: "error", text };
    }
  }

  /** The result that the client sends. The call is in the log as pending before anyone may act on it. */
  async #resultOf(open: OpenAction): Promise<Outcome | null> {
    const { clientCalls, log } = this.#deps;
    await storeEvents(this.#deps, this.#signal, () => {
      const current = log.state.openActions.find(({ id }) => id === open.id);
      if (current === undefined || !isWanted(this.#deps, this.#signal)) return [];
      this.#executing.add(open.id);
      return clientCalls.handOver(current);
    });
    return this.#executing.has(open.id) ? await clientCalls.wait(open, this.#signal) : null;
  }

  /** True if a hook blocked the call; the model reads the reason, and the tool never starts. */
  async #isDenied(open: OpenAction, action: Action): Promise<boolean> {
    const gated = await this.#deps.hooks.gate?.beforeTool(open, action, this.#signal);
    if (gated === undefined || this.#signal.aborted) return false;
    await storeEvents(this.#deps, this.#signal, () =>
      this.#isOpen(open)
        ? [...gated.drafts, ...(gated.isBlocked ? [rejection(open, gated.reason, "hook")] : [])]
        : [],
    );
    return gated.isBlocked;
  }

  async #notifyHooks(open: OpenAction, action: Action, outcome: Outcome): Promise<void> {
    const drafts = (await this.#deps.hooks.gate?.afterTool(open, action, outcome, this.#signal)) ?? [];
    if (drafts.length > 0 && !this.#signal.aborted) await storeEvents(this.#deps, this.#signal, () => drafts);
  }

  #isOpen(action: OpenAction): boolean {
    return this.#deps.log.state.openActions.some(({ id }) => id === action.id);
  }

  async #resolveSecrets(): Promise<ToolSecret[]> {
    const { configuration, fetch, id, logger } = this.#deps;
    const warn = (name: string, reason: string): void => {
      logger.warn({ conversation: id, secret: name, reason }, "secret lookup failed");
    };
    const resolved = await resolveSecrets(configuration.secrets.sources, this.#signal, warn, fetch);
    return configuration.forTools(resolved);
  }
}

function actionAt(view: readonly ViewEvent[], { seq }: OpenAction): Action | null {
  const event = view.findLast((item) => item.seq === seq)?.event;
  return event?.kind === "ActionEvent" ? (event.action ?? null) : null;
}
