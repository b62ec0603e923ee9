import { createHash } from "node:crypto";
import { resultTimeout, type ClientToolSpec, type ImageContent, type TextContent } from "@convoke/protocol";
import type { Outcome } from "@convoke/tool-host";
import { clientTools } from "../agent/tool-specs.ts";
import type { EventDraft } from "../events/event-draft.ts";
import { stateUpdate } from "../events/state-update.ts";
import { formatInstant } from "../lib/instant.ts";
import { DeadlineTimer } from "./deadline-timer.ts";
import type { Decision } from "./commands/decide.ts";
import { refuseResult } from "./commands/refuse-result.ts";
import { answerAction } from "./run/answer.ts";
import type { AwaitedCalls } from "./run/run-deps.ts";
import type { SharedParts } from "./shared-parts.ts";
import type { OpenAction } from "./state/conversation-state.ts";
import { describePendingCall, pendingCalls } from "./state/pending-calls.ts";

/** The state update that hands a call to the client, which waits for its result from then on. */
const pendingCallKey = "pending_tool_call";

/** What a client tool returned; `call` is the id of the call or of its ActionEvent. */
export type ClientResult = {
  readonly call: string;
  readonly content: readonly (TextContent | ImageContent)[];
  readonly isError: boolean;
};

/** Calls of client tools that the run waits for. They are pending in the log; here are only the waits. */
export class ClientCalls implements AwaitedCalls {
  readonly #deps: Pick<SharedParts, "clock" | "configuration" | "log" | "queue">;
  /** The waits of this process, by the id of the action. */
  readonly #waits = new Map<string, (outcome: Outcome) => void>();

  constructor(deps: Pick<SharedParts, "clock" | "configuration" | "log" | "queue">) {
    this.#deps = deps;
  }

  isAwaited(toolName: string): boolean {
    return this.#specOf(toolName) !== undefined;
  }

  handOver(action: OpenAction): EventDraft[] {
    if (action.resultDeadlineMs !== undefined) return [];
    const { timeout_seconds: seconds = resultTimeout.default } = this.#specOf(action.toolName) ?? {};
    const deadlineMs = this.#deps.clock.nowMs() + Math.ceil(seconds * 1000);
    const value = describePendingCall({ ...action, resultDeadlineMs: deadlineMs });
    return [{ ...stateUpdate(pendingCallKey, value), meta: { pendingCall: { id: action.id, deadlineMs } } }];
  }

  async wait({ id, toolName }: OpenAction, signal: AbortSignal): Promise<Outcome | null> {
    const deadlineMs = this.#open(id)?.resultDeadlineMs;
    if (signal.aborted || deadlineMs === undefined) return null;
    const { promise, resolve } = Promise.withResolvers<Outcome | null>();
    const timer = new DeadlineTimer(this.#deps.clock, () => resolve(overdue(toolName, deadlineMs)));
    const stop = (): void => resolve(null);
    this.#waits.set(id, resolve);
    signal.addEventListener("abort", stop, { once: true });
    timer.set(deadlineMs);
    try {
      return await promise;
    } finally {
      timer.set(null);
      signal.removeEventListener("abort", stop);
      this.#waits.delete(id);
    }
  }

  /**
   * Stores results and lets their calls go on. The same result again changes nothing. Fails, and stores none, if a call
   * is unknown (404) or waits for none (409).
   */
  async receive(
    results: readonly ClientResult[],
    commit: (decision: Decision) => Promise<unknown>,
  ): Promise<void> {
    const { log, queue } = this.#deps;
    await queue.post(async () => {
      const answers = new Map<string, { readonly outcome: Outcome; readonly draft: EventDraft }>();
      for (const result of results) {
        const action = pendingCalls(log.state).find(
          (open) => !answers.has(open.id) && (open.id === result.call || open.toolCallId === result.call),
        );
        const digest = digestOf(result);
        if (action === undefined) {
          await refuseResult(log, result.call, digest);
          continue;
        }
        const outcome = toOutcome(result);
        const draft = answerAction(action, outcome, []);
        answers.set(action.id, {
          outcome,
          draft: { ...draft, meta: { ...draft.meta, resultDigest: digest } },
        });
      }
      await commit({ drafts: [...answers.values()].map(({ draft }) => draft) });
      for (const [id, { outcome }] of answers) this.#waits.get(id)?.(outcome);
    });
  }

  #specOf(toolName: string): ClientToolSpec | undefined {
    return awaitedTools(this.#deps.configuration.config).find(({ name }) => name === toolName);
  }

  #open(id: string): OpenAction | undefined {
    return this.#deps.log.state.openActions.find((action) => action.id === id);
  }
}

/** The client tools whose results are waited for. */
export function awaitedTools(config: Parameters<typeof clientTools>[0]): ClientToolSpec[] {
  return clientTools(config).filter(({ waits_for_result: waits }) => waits === true);
}

function overdue(toolName: string, deadlineMs: number): Outcome {
  const text = `The client sent no result of ${toolName} until ${formatInstant(deadlineMs * 1000)}, its deadline. Go on without it.`;
  return toOutcome({ content: [{ type: "text", text, cache_prompt: false }], isError: true });
}

function toOutcome({ content, isError }: Omit<ClientResult, "call">): Outcome {
  const observation = { kind: "ClientToolObservation", content: [...content], is_error: isError };
  return { type: "observation", observation: observation as never };
}

function digestOf({ content, isError }: ClientResult): string {
  return createHash("sha256")
    .update(JSON.stringify([content, isError]))
    .digest("hex");
}
