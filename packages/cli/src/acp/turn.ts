import type { AgentContext, SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import { waitingActions, type ConvokeClient } from "@convoke/client";
import type { ConversationExecutionStatus } from "@convoke/protocol";
import { toStopReason } from "./mapping.ts";
import { askPermissions } from "./permissions.ts";
import { runFailed } from "./session-errors.ts";
import { message, SessionUpdates } from "./session-updates.ts";

export type TurnDeps = {
  readonly client: ConvokeClient;
  readonly editor: Pick<AgentContext, "request" | "notify">;
  readonly sessionId: string;
  readonly cwd: string;
  /** The last event that the editor was told of; null when the log is empty. */
  readonly cursor: string | null;
  /** Begins the work: resolves with the id of the message that it stored, null when it stored none. */
  readonly begin: () => Promise<string | null>;
};

const ends = new Set<ConversationExecutionStatus>(["idle", "finished", "error", "stuck", "paused"]);
/** An interrupt is durable long before that; a server that does not answer ends the turn nevertheless. */
const cancelTimeoutMs = 15_000;

/** From a prompt to the end of its run. One at a time for each session. */
export class Turn {
  readonly #deps: TurnDeps;
  readonly #updates: SessionUpdates;
  readonly #following = new AbortController();
  #cursor: string | null;
  #asking: AbortController | null = null;
  #asked: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | null = null;
  #isCancelled = false;
  #cancelTimer: NodeJS.Timeout | undefined;

  constructor(deps: TurnDeps) {
    this.#deps = deps;
    this.#cursor = deps.cursor;
    this.#updates = new SessionUpdates(deps.cwd);
  }

  /** The last event that the editor was told of. */
  get cursor(): string | null {
    return this.#cursor;
  }

  /** Rejects with the failure of the run, or of the connection to the server. */
  async run(): Promise<StopReason> {
    try {
      const ownMessageId = await this.#deps.begin();
      const end = await this.#follow(ownMessageId);
      return await this.#conclude(end);
    } finally {
      clearTimeout(this.#cancelTimer);
      this.#asking?.abort();
      this.#following.abort();
      await this.#asked;
    }
  }

  /** Ends the work. The turn then ends by itself, with what the log says about it. */
  async cancel(): Promise<void> {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#cancelTimer = setTimeout(() => this.#following.abort(), cancelTimeoutMs);
    const { client, sessionId } = this.#deps;
    const isAsked = this.#asking !== null;
    this.#asking?.abort();
    try {
      if (isAsked) await client.respondToConfirmation(sessionId, false, "Cancelled in the editor.");
      await client.interrupt(sessionId);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The editor has gone: nothing is told any more, and the run goes on. */
  leave(): void {
    this.#following.abort();
  }

  async #follow(ownMessageId: string | null): Promise<End> {
    const { client, sessionId } = this.#deps;
    const options = { deltas: "items", progress: true, standing: true } as const;
    let lastError: Failure = null;
    let hasBegun = false;
    let ended: { readonly status: ConversationExecutionStatus; readonly lastId: string } | null = null;
    const signal = this.#following.signal;
    for await (const item of client.follow(sessionId, { ...options, afterEventId: this.#cursor, signal })) {
      await this.#send(this.#updates.of(item, ownMessageId));
      this.#ask();
      if (item.type === "signal") continue;
      const { event } = item;
      const id = event.id!;
      this.#cursor = id;
      if (event.kind === "ConversationErrorEvent") lastError = { code: event.code, detail: event.detail, id };
      const isStatus = event.kind === "ConversationStateUpdateEvent" && event.key === "execution_status";
      if (isStatus && event.value === "running") {
        [hasBegun, ended, lastError] = [true, null, null];
        continue;
      }
      // A message to a conversation that is at work does not change its status.
      if (id === ownMessageId) hasBegun = true;
      if (isStatus && hasBegun && ends.has(event.value as ConversationExecutionStatus)) {
        // What ended the run follows its status in the same commit, so it is stored already.
        ended = { status: event.value as ConversationExecutionStatus, lastId: await this.#newestId() };
      }
      if (ended !== null && id >= ended.lastId) break;
    }
    return { status: ended?.status ?? null, error: lastError };
  }

  async #conclude({ status, error }: End): Promise<StopReason> {
    if (this.#failure !== null) throw this.#failure.error;
    await this.#send(this.#updates.closeCalls("The turn ended before this call."));
    if (this.#isCancelled || status === null) return "cancelled";
    const reason = toStopReason(status, error?.code ?? null);
    if (reason === null)
      throw runFailed(
        error?.code ?? "error",
        error?.detail ?? "The agent's run ended with an error.",
        error?.id ?? "",
      );
    const why = reason === "refusal" ? "The agent repeated itself and was stopped." : error?.detail;
    if (why !== undefined && reason !== "end_turn") await this.#send([message(why, `end-${this.#cursor}`)]);
    return reason;
  }

  /** Asks about what waits; a question whose answer came from elsewhere is taken back. */
  #ask(): void {
    const isWaiting = waitingActions(this.#updates.view).length > 0;
    if (!isWaiting) {
      this.#asking?.abort();
      this.#asking = null;
    } else if (this.#asking === null && !this.#isCancelled) {
      const asking = new AbortController();
      this.#asking = asking;
      this.#asked = this.#asked.then(() => this.#askEditor(asking.signal));
    }
  }

  async #askEditor(signal: AbortSignal): Promise<void> {
    const { client, editor, sessionId } = this.#deps;
    try {
      if (signal.aborted) return;
      const outcome = await askPermissions({ client, editor, sessionId, signal });
      if (outcome === "dismissed" && !signal.aborted) await this.cancel();
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    }
  }

  async #send(updates: readonly SessionUpdate[]): Promise<void> {
    const { editor, sessionId } = this.#deps;
    for (const update of updates) await editor.notify("session/update", { sessionId, update });
  }

  async #newestId(): Promise<string> {
    const { items } = await this.#deps.client.searchEvents(this.#deps.sessionId, {
      limit: 1,
      sort_order: "TIMESTAMP_DESC",
    });
    return items[0]?.id ?? "";
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#following.abort();
  }
}

type Failure = { readonly code: string; readonly detail: string; readonly id: string } | null;
/** Without a status: nobody follows any more. */
type End = { readonly status: ConversationExecutionStatus | null; readonly error: Failure };
