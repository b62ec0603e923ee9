import { createHash, randomUUID } from "node:crypto";
import type { Message } from "@convoke/protocol";
import type { Cluster } from "../cluster/cluster.ts";
import type { Asker, Directory } from "../directory/directory.ts";
import { OwnedElsewhere } from "../engine/refusals.ts";
import { Fault } from "../lib/fault.ts";
import type { Logger } from "../lib/logger.ts";
import { Mailboxes } from "../lib/mailboxes.ts";
import type { AppConversations } from "./app-conversations.ts";
import type { AppConversationStore } from "./app-conversation-store.ts";
import { runStart, StartFailure } from "./run-start.ts";
import { sandboxesNotServed } from "./sandbox-refusals.ts";
import type { Sandboxes } from "./sandbox-service.ts";
import type { StartRequest } from "./start-order.ts";
import { hasEnded, type StartTask, type StartTaskStore } from "./start-task-store.ts";
import type { Clock } from "../lib/clock.ts";

export type StarterTimes = {
  /** A start that takes longer has failed. */
  readonly deadlineMs: number;
  /** Followers hear of a start at least this often. */
  readonly newsEveryMs: number;
};

const starterTimes: StarterTimes = { deadlineMs: 30 * 60_000, newsEveryMs: 1_500 };
/** A start that so many servers died of is not tried again. */
const maxAttempts = 5;

export type StarterDeps = {
  readonly store: StartTaskStore;
  readonly conversations: AppConversations;
  readonly rows: AppConversationStore;
  readonly directory: Directory;
  /** Null where none are served: then conversations can be read, and none can be started. */
  readonly sandboxes: Sandboxes | null;
  /** The servers that share the store. */
  readonly cluster: Pick<Cluster, "nodeId" | "nodes">;
  /** Whether sandboxes of other servers are reached from here, so that this one can resume their starts. */
  readonly hasMachines: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Instead of the documented ones. */
  readonly times?: Partial<StarterTimes>;
};

type Running = { readonly abort: AbortController; readonly ended: Promise<void> };

/**
 * Starts conversations in sandboxes. A start is stored before it begins and resumes after a restart of the server: each
 * step can be repeated, because everything that it makes has an id that comes from the conversation's.
 */
export class ConversationStarter implements AsyncDisposable {
  readonly #deps: StarterDeps;
  readonly #times: StarterTimes;
  readonly #running = new Map<string, Running>();
  readonly #followers = new Map<string, Set<(task: StartTask) => void>>();
  readonly #preparing = new Mailboxes();
  readonly #closing = new AbortController();

  constructor(deps: StarterDeps) {
    this.#deps = deps;
    this.#times = { ...starterTimes, ...deps.times };
  }

  /** Writes the start down and begins it; asked again with the same conversation id, answers with the first one. */
  async begin(asker: Asker, request: StartRequest): Promise<StartTask> {
    if (this.#deps.sandboxes === null) throw sandboxesNotServed();
    const conversationId = request.conversationId ?? randomUUID();
    await this.#checkId(asker, conversationId);
    await this.#deps.directory.checkQuota(asker, conversationId);
    const { task, isNew } = await this.#insert(asker, conversationId, request);
    if (task.ownerId !== asker.userId) throw idTaken(conversationId);
    // The poll for unfinished starts may have taken it up already.
    if (isNew && !this.#running.has(task.id)) this.#drive(task);
    return task;
  }

  /** Resumes every unfinished start of servers that have ended, and those of this one whose insert was not acknowledged. */
  async resumeStarts(): Promise<void> {
    const { sandboxes, store, hasMachines, cluster } = this.#deps;
    if (sandboxes === null) return;
    const tasks = (await store.listUnfinished()).filter(({ id }) => !this.#running.has(id));
    if (tasks.length === 0) return;
    // On one machine it is the server with the sandboxes that starts anything.
    const living = new Set(hasMachines ? (await cluster.nodes()).map(({ id }) => id) : []);
    if (this.#closing.signal.aborted) return;
    for (const task of tasks) {
      const isLeft = task.nodeId === null || task.nodeId === cluster.nodeId || !living.has(task.nodeId);
      if (isLeft && !this.#running.has(task.id)) this.#drive(task);
    }
  }

  /** The task now, after each change, and in between so often that a reader sees it is alive; ends with the start. */
  async *follow(first: StartTask, signal: AbortSignal): AsyncGenerator<StartTask> {
    let latest = first;
    let news = Promise.withResolvers<void>();
    const queue: StartTask[] = [];
    const onNews = (task: StartTask): void => {
      queue.push(task);
      news.resolve();
    };
    const followers = this.#followers.get(first.id) ?? new Set();
    this.#followers.set(first.id, followers.add(onNews));
    const over = AbortSignal.any([signal, this.#closing.signal]);
    const onOver = (): void => news.resolve();
    over.addEventListener("abort", onOver);
    try {
      yield latest;
      // It may have changed before we listened.
      const [now] = await this.#deps.store.getMany(first.ownerId, [first.id]);
      if (now && now.status !== latest.status && queue.length === 0) queue.push(now);
      while (!hasEnded(latest) && !over.aborted) {
        const timer = setTimeout(() => news.resolve(), this.#times.newsEveryMs);
        if (queue.length === 0) await news.promise;
        clearTimeout(timer);
        news = Promise.withResolvers<void>();
        latest = queue.shift() ?? { ...(await this.#now(latest)), updatedAtMs: this.#deps.clock.nowMs() };
        if (!over.aborted) yield latest;
      }
    } finally {
      over.removeEventListener("abort", onOver);
      followers.delete(onNews);
      if (followers.size === 0) this.#followers.delete(first.id);
    }
  }

  /** Another server may work on it, which only its row shows here. */
  async #now(task: StartTask): Promise<StartTask> {
    const [now] = await this.#deps.store.getMany(task.ownerId, [task.id]);
    return now ?? task;
  }

  /** Leaves a message for a conversation that is being started, or null when no start of it is under way. */
  async leaveMessage(
    conversationId: string,
    message: Message,
  ): Promise<{ id: string; position: number } | null> {
    const left = await this.#deps.store.addPending(conversationId, message);
    if (left === "ended") return null;
    if (left !== "full") return left;
    throw new Fault(
      "too-many",
      "too_many_pending_messages",
      "Ten messages wait for this conversation to start. Send this one when it has started.",
    );
  }

  /** Ends the start of a conversation that is to be deleted; resolves when nothing of it is in progress. Rejects where another server works on it. */
  async cancel(asker: Asker, conversationId: string): Promise<boolean> {
    const { store, cluster } = this.#deps;
    const task = await store.ofConversation(asker.userId, conversationId);
    if (task === null) return false;
    const isOthers = task.nodeId !== null && task.nodeId !== cluster.nodeId && !hasEnded(task);
    if (isOthers && (await cluster.nodes()).some(({ id }) => id === task.nodeId))
      throw new OwnedElsewhere(task.nodeId);
    const running = this.#running.get(task.id);
    running?.abort.abort(new StartFailure("The conversation was deleted while it started."));
    await running?.ended;
    return true;
  }

  /** Releases the starts; the next server resumes them. */
  async [Symbol.asyncDispose](): Promise<void> {
    const reason = new Error("The server stopped while the conversation started.");
    this.#closing.abort(reason);
    const running = [...this.#running.values()];
    for (const { abort } of running) abort.abort(reason);
    await Promise.all(running.map(({ ended }) => ended));
  }

  /** Which sandbox it gets is written down with it. */
  async #insert(
    { userId: ownerId }: Asker,
    conversationId: string,
    { order, shown: request }: StartRequest,
  ): ReturnType<StartTaskStore["insert"]> {
    const { store, sandboxes } = this.#deps;
    const ready = order.sandboxId === null ? (sandboxes?.reserve(order.templateId) ?? null) : null;
    const sandboxId = order.sandboxId ?? ready ?? ownSandboxId(conversationId);
    let isUsed = false;
    try {
      const inserted = await store.insert({ ownerId, conversationId, sandboxId, request }, order);
      isUsed = inserted.isNew;
      return inserted;
    } finally {
      if (ready !== null && !isUsed) sandboxes?.unreserve(ready);
    }
  }

  #drive(task: StartTask): void {
    const abort = new AbortController();
    const ended = this.#run(task, abort).finally(() => this.#running.delete(task.id));
    this.#running.set(task.id, { abort, ended });
  }

  /** Never rejects. */
  async #run(left: StartTask, abort: AbortController): Promise<void> {
    const { store, logger } = this.#deps;
    const { id, ownerId, conversationId } = left;
    const deadline = setTimeout(() => {
      const minutes = Math.round(this.#times.deadlineMs / 60_000);
      abort.abort(new StartFailure(`The start did not end within ${minutes} minutes.`));
    }, this.#times.deadlineMs);
    let madeSandboxId: string | null = ownSandboxId(conversationId);
    try {
      const taken = await store.take(left);
      if (taken === null) return;
      madeSandboxId = taken.order.sandboxId === null ? taken.task.sandboxId : null;
      if (taken.task.attempts > maxAttempts) {
        throw new StartFailure("The server stopped too often while the conversation started.");
      }
      await runStart({
        ...this.#deps,
        ...taken,
        sandboxes: this.#deps.sandboxes!,
        preparing: this.#preparing,
        signal: abort.signal,
        closing: this.#closing.signal,
        tasks: { changed: (task) => this.#publish(task) },
      });
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      const detail = describe(error);
      if (detail === null) logger.error({ startTask: id, error: String(error) }, "a start failed");
      const task = { id, ownerId, conversationId };
      await this.#fail(task, madeSandboxId, detail ?? "Something went wrong inside the server.");
    } finally {
      clearTimeout(deadline);
    }
  }

  /** Removes what was created for the conversation before its user is notified. */
  async #fail(
    { id, ownerId, conversationId }: Pick<StartTask, "id" | "ownerId" | "conversationId">,
    madeSandboxId: string | null,
    detail: string,
  ): Promise<void> {
    const { store, conversations, logger } = this.#deps;
    try {
      // Another server resumes it, with what was created for it.
      if (await store.isElsewhere(id)) return;
      await conversations.discard({ userId: ownerId }, conversationId, madeSandboxId);
    } catch (error) {
      logger.error({ startTask: id, error: String(error) }, "what a failed start made could not be removed");
    }
    try {
      const failed = await store.update(id, { status: "ERROR", detail });
      if (failed !== null) this.#publish(failed);
    } catch (error) {
      // The next poll for unfinished starts finds the task and tries again.
      logger.error({ startTask: id, error: String(error) }, "the failure of a start could not be recorded");
    }
  }

  #publish(task: StartTask): void {
    for (const onNews of this.#followers.get(task.id) ?? []) onNews(task);
  }

  /** A conversation that has no sandbox cannot get one. */
  async #checkId(asker: Asker, conversationId: string): Promise<void> {
    const { directory, rows } = this.#deps;
    const isThere = await directory.exists(asker, conversationId);
    if (isThere && (await rows.get(asker.userId, conversationId)) === null) throw idTaken(conversationId);
  }
}

/** The sandbox that is made for a conversation where none is ready. Short, because a socket's path may have a hundred letters only. */
function ownSandboxId(conversationId: string): string {
  return createHash("sha256").update(conversationId).digest("hex").slice(0, 20);
}

/** A sentence for the user; null when the failure is ours. */
function describe(error: unknown): string | null {
  return error instanceof StartFailure || error instanceof Fault ? error.message : null;
}

function idTaken(id: string): Fault {
  return new Fault(
    "conflict",
    "conversation_exists",
    `There is a conversation ${id} already. Choose another id.`,
  );
}
