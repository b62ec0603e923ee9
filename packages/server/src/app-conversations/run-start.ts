import { posix } from "node:path";
import type { Asker, Directory } from "../directory/directory.ts";
import { isBound } from "../egress/check-secret-binding.ts";
import { secretValues } from "../engine/secret-values.ts";
import type { Mailboxes } from "../lib/mailboxes.ts";
import { wait } from "../lib/wait.ts";
import { createMask, type Mask } from "../security/mask.ts";
import { writeFacts, type AppConversationStore } from "./app-conversation-store.ts";
import { orAborted } from "../lib/or-aborted.ts";
import { leaveOutBound } from "./leave-out-bound.ts";
import { PreparationError, prepareWorkspace } from "./prepare-workspace.ts";
import { isMachineUnavailable } from "./sandbox-refusals.ts";
import type { Sandboxes, SandboxHost, SandboxView } from "./sandbox-service.ts";
import type { StartOrder } from "./start-order.ts";
import type { StartTask, StartTaskStore } from "./start-task-store.ts";
import type { Clock } from "../lib/clock.ts";

export type RunStartDeps = {
  readonly task: StartTask;
  readonly order: StartOrder;
  readonly store: StartTaskStore;
  readonly rows: AppConversationStore;
  readonly directory: Directory;
  readonly sandboxes: Sandboxes;
  /** By sandbox and folder: starts that have the same one prepare it one after another. */
  readonly preparing: Mailboxes;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Aborts once the server stops. */
  readonly closing: AbortSignal;
  readonly tasks: { changed(task: StartTask): void };
};

/** The start has failed for a reason that its user can understand. */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
}

/** The idempotency key of the first message, whichever server sends it. */
const initialMessageKey = "convoke:initial-message";
const pollMs = 500;

/** One start from where it is to its end. Rejects with {@link StartFailure}, or with the signal's reason. */
export async function runStart(deps: RunStartDeps): Promise<void> {
  const steps = new Steps(deps);
  await steps.to("WAITING_FOR_SANDBOX");
  const host = await openSandboxPatiently(deps, steps);
  const { workingDir, remarks } = await prepare(deps, steps, host);
  await steps.to("STARTING_CONVERSATION");
  await createConversation(deps, workingDir);
  await sendFirst(deps);
  await finish(deps, steps, remarks.length === 0 ? null : remarks.join("\n"));
}

/** The progress of the start, stored before it is published; no detail contains secrets. */
class Steps {
  readonly #deps: RunStartDeps;
  readonly #mask: Mask;
  #task: StartTask;

  constructor(deps: RunStartDeps) {
    this.#deps = deps;
    this.#task = deps.task;
    this.#mask = createMask(secretValues(deps.order.secrets));
  }

  async to(status: StartTask["status"], detail: string | null = null): Promise<void> {
    this.#deps.signal.throwIfAborted();
    const shown = detail === null ? null : this.mask(detail);
    if (status === this.#task.status && shown === this.#task.detail) return;
    const task = await this.#deps.store.update(this.#task.id, { status, detail: shown });
    if (task === null) throw new StartFailure("The start was ended.");
    this.#task = task;
    this.#deps.tasks.changed(task);
  }

  mask(text: string): string {
    return JSON.parse(this.#mask(JSON.stringify(text))) as string;
  }
}

/** Its machine may leave, and come back, at every moment. */
async function openSandboxPatiently(deps: RunStartDeps, steps: Steps): Promise<SandboxHost> {
  for (;;) {
    try {
      return await openSandbox(deps, steps);
    } catch (error) {
      if (!isMachineUnavailable(error)) throw error;
      await wait(pollMs, deps.signal);
    }
  }
}

/** The sandbox of the order, made or made to run again where need be, and what it does meanwhile in the detail. */
async function openSandbox(deps: RunStartDeps, steps: Steps): Promise<SandboxHost> {
  const { task, order, sandboxes, signal } = deps;
  const { ownerId, sandboxId } = task;
  if (order.sandboxId === null) await sandboxes.start(ownerId, order.templateId, sandboxId);
  const view = await untilAvailable(deps, steps);
  // What a server before this one left half started has failed by now, like what its user paused.
  const resuming =
    view.status === "RUNNING" || view.status === "STARTING" ? null : sandboxes.resume(ownerId, sandboxId);
  const ready = (async () => {
    await resuming;
    return await sandboxes.openHost(sandboxId);
  })();
  const polling = new AbortController();
  const polled = poll();
  try {
    return await orAborted(ready, signal);
  } finally {
    polling.abort();
    await polled;
  }

  async function poll(): Promise<void> {
    while (!polling.signal.aborted && !signal.aborted) {
      const [now] = await sandboxes.getMany(ownerId, [sandboxId]);
      await steps.to("WAITING_FOR_SANDBOX", now?.statusDetail ?? null).catch(() => {
        // Ended from outside; the wait for the sandbox rejects with the reason.
      });
      await wait(pollMs, polling.signal);
    }
  }
}

/** A machine that is unavailable may come back until the start has taken too long. */
async function untilAvailable({ task, sandboxes, signal }: RunStartDeps, steps: Steps): Promise<SandboxView> {
  for (;;) {
    signal.throwIfAborted();
    const [view] = await sandboxes.getMany(task.ownerId, [task.sandboxId]);
    if (!view) throw new StartFailure(`There is no sandbox ${task.sandboxId}.`);
    if (view.isUnavailable !== true) return view;
    await steps.to("WAITING_FOR_SANDBOX", view.statusDetail);
    await wait(pollMs, signal);
  }
}

async function prepare(
  deps: RunStartDeps,
  steps: Steps,
  host: SandboxHost,
): ReturnType<typeof prepareWorkspace> {
  const { task, order, preparing, signal } = deps;
  const name = order.repository === null ? "" : posix.basename(order.repository.name);
  const begun = Promise.withResolvers<void>();
  let isBegun = false;
  const prepared = preparing.post([task.sandboxId, order.subfolder ?? "", name].join("\n"), async () => {
    signal.throwIfAborted();
    isBegun = true;
    begun.resolve();
    return await prepareNow(deps, steps, host);
  });
  // A start that is cancelled while it is queued rejects here, and its turn is skipped later.
  prepared.catch(() => {});
  await orAborted(begun.promise, signal).catch((error: unknown) => {
    if (!isBegun) throw error;
  });
  return await prepared;
}

async function prepareNow(
  { task, order, signal, closing }: RunStartDeps,
  steps: Steps,
  host: SandboxHost,
): ReturnType<typeof prepareWorkspace> {
  const secrets = Object.entries(order.secrets.sources).flatMap(([name, source]) =>
    source.kind === "StaticSecret" && typeof source.value === "string" && !isBound(source)
      ? [{ name, value: source.value }]
      : [],
  );
  try {
    return await prepareWorkspace({
      task,
      order,
      host,
      secrets,
      signal,
      closing,
      steps,
    });
  } catch (error) {
    throw error instanceof PreparationError ? new StartFailure(steps.mask(error.message)) : error;
  }
}

async function createConversation(
  { task, order, rows, directory, sandboxes }: RunStartDeps,
  workingDir: string,
): Promise<void> {
  const { conversationId: id, ownerId, sandboxId } = task;
  const asker: Asker = { userId: ownerId };
  const facts = writeFacts(order.facts, order.parentId);
  const { config: ordered, secrets } = sandboxes.hasWayOut(sandboxId) ? order : leaveOutBound(order);
  const config = {
    ...ordered,
    workspace: { kind: "LocalWorkspace" as const, working_dir: workingDir },
    sandbox_id: sandboxId,
  };
  const title = order.title ?? `Conversation ${id.replaceAll("-", "").slice(0, 5)}`;
  const app = { facts, createdAtMs: task.createdAtMs };
  if ((await directory.create(asker, { id, title, config, secrets, app })) !== null) return;
  const known = await directory.describe(asker, id);
  if (known?.config.sandbox_id === sandboxId) {
    await rows.adopt(id, facts);
    return;
  }
  throw new StartFailure(`There is a conversation ${id} already.`);
}

async function sendFirst({ task, order, directory }: RunStartDeps): Promise<void> {
  if (order.initialMessage === null) return;
  const conversation = await directory.open({ userId: task.ownerId }, task.conversationId);
  await conversation.send({ ...order.initialMessage, clientMessageId: initialMessageKey });
}

/** Sends what came in meanwhile, in its order and once each, until nothing is left. */
async function finish(
  { task, store, directory, signal, tasks }: RunStartDeps,
  steps: Steps,
  remark: string | null,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const pending = await store.firstPending(task.conversationId);
    if (pending === null) {
      const ready = await store.finish(task, remark === null ? null : steps.mask(remark));
      if (ready === "pending") continue;
      if (ready === null) throw new StartFailure("The start was ended.");
      tasks.changed(ready);
      return;
    }
    const conversation = await directory.open({ userId: task.ownerId }, task.conversationId);
    await conversation.send({
      message: pending.message,
      wantsRun: true,
      clientMessageId: `pending:${pending.id}`,
    });
    await store.removePending(pending.id);
  }
}
