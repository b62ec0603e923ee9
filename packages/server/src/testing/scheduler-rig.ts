import { randomBytes } from "node:crypto";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import type { Automation, AutomationPlan, AutomationRun } from "../automations/automation.ts";
import { AutomationStore } from "../automations/automation-store.ts";
import type { RunConversations, RunRequest, RunStatus } from "../automations/run-conversations.ts";
import { createSchedule } from "../automations/schedule.ts";
import { Scheduler } from "../automations/scheduler.ts";
import { silentLogger } from "../lib/logger.ts";
import { wait } from "../lib/wait.ts";
import { createSecretBox } from "../security/seal.ts";
import { openTestDatabase } from "./test-database.ts";

/** A node that does nothing after the calls that it was allowed. */
class Killed extends Error {}

export type TestNode = AsyncDisposable & {
  readonly scheduler: Scheduler;
  readonly calls: () => number;
  /** Starts what is due, and continues what is open. False when the node was killed meanwhile. */
  round(): Promise<boolean>;
};

/** Nodes with schedulers on one store, conversations that are only counted, and a clock that tests set. */
export class SchedulerRig implements AsyncDisposable {
  nowMs = Date.parse("2026-06-01T12:00:00Z");
  readonly store: AutomationStore;
  /** By id. */
  readonly conversations = new Map<string, { readonly request: RunRequest; status: RunStatus }>();
  /** Ids of the nodes that count as alive. */
  readonly living = new Set<string>();
  readonly interrupted: string[] = [];
  /** Thrown by the next starts of conversations. */
  startError: Error | null = null;
  refusal: string | null = null;
  readonly #scope: AsyncDisposableStack;

  private constructor(store: AutomationStore, scope: AsyncDisposableStack) {
    this.store = store;
    this.#scope = scope;
  }

  static async open(): Promise<SchedulerRig> {
    const scope = new AsyncDisposableStack();
    const folder = scope.use(await openTemporaryDirectory());
    const database = scope.use(await openTestDatabase(folder.path));
    const secretBox = createSecretBox(randomBytes(32));
    const clock = { nowMs: () => rig.nowMs };
    const rig: SchedulerRig = new SchedulerRig(new AutomationStore({ database, secretBox, clock }), scope);
    return rig;
  }

  /** Every minute from the next one on, unless told otherwise. */
  async create(plan: Partial<AutomationPlan> = {}): Promise<Automation> {
    const trigger = plan.trigger ?? {
      kind: "interval",
      every_seconds: 60,
      starts_at: new Date(this.nowMs + 60_000).toISOString(),
    };
    const whole = {
      name: "a",
      prompt: "Go.",
      conversation: {},
      approvals: {},
      overlap: {},
      catchUp: {},
      ...plan,
    };
    const nextDueMs = createSchedule(trigger).next(this.nowMs);
    return await this.store.create("ada", { ...whole, trigger }, { isPaused: false, nextDueMs }, null);
  }

  /** `allowedCalls` to the store and to conversations, then the node is dead. */
  node(id: string, allowedCalls = Infinity): TestNode {
    let calls = 0;
    this.living.add(id);
    const counted = <Target extends object>(target: Target): Target =>
      new Proxy(target, {
        get: (_, name) => {
          const method = Reflect.get(target, name) as unknown;
          if (typeof method !== "function") return method;
          return (...given: unknown[]): unknown => {
            if (calls >= allowedCalls) {
              this.living.delete(id);
              throw new Killed();
            }
            calls += 1;
            return Reflect.apply(method, target, given);
          };
        },
      });
    const scheduler = new Scheduler({
      store: counted(this.store),
      conversations: counted(this.#conversations()),
      cluster: {
        nodeId: id,
        nowMs: () => this.nowMs,
        nodes: async () =>
          [...this.living].map((living) => ({ id: living, address: null, release: null, startedAtMs: null })),
      },
      wait,
      logger: silentLogger,
    });
    const round = async (): Promise<boolean> => {
      try {
        await scheduler.resume();
        await scheduler.startDue();
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
      }
      await scheduler.settled();
      return this.living.has(id);
    };
    return {
      scheduler,
      round,
      calls: () => calls,
      [Symbol.asyncDispose]: () => scheduler[Symbol.asyncDispose](),
    };
  }

  /** The oldest first, as `state` or `state (count)`. */
  async history({ id }: Automation): Promise<string[]> {
    return (await this.runs(id)).map(({ state, count }) => (count === 1 ? state : `${state} (${count})`));
  }

  async runs(automationId: string): Promise<AutomationRun[]> {
    const page = { beforeId: null, limit: 1_000, state: null };
    return (await this.store.runs(automationId, page)).toReversed();
  }

  /** All conversations come to rest. */
  finish(status: RunStatus = "finished"): void {
    for (const conversation of this.conversations.values())
      if (conversation.status === "active") conversation.status = status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#scope.disposeAsync();
  }

  #conversations(): RunConversations {
    return {
      refusalOf: () => this.refusal,
      start: async (_, request) => {
        if (this.startError !== null) throw this.startError;
        const id = request.conversation_id;
        if (!this.conversations.has(id)) this.conversations.set(id, { request, status: "active" });
      },
      statuses: async (ids) => ids.map((id) => this.conversations.get(id)?.status ?? "deleted"),
      interrupt: async (_, id) => {
        this.interrupted.push(id);
        const conversation = this.conversations.get(id);
        if (conversation !== undefined) conversation.status = "paused";
      },
      folderFor: async (id) => `/new/${id}`,
    };
  }
}
