import type { Validator } from "@convoke/protocol/validate";
import type { Outcome } from "@convoke/tool-host";
import type { Condensing } from "../../agent/condense/condensing.ts";
import type { EventDraft } from "../../events/event-draft.ts";
import type { Fetch } from "../../lib/filtered-fetch.ts";
import type { SourcedRule } from "../../security/rules/rule.ts";
import type { Observer } from "../../observability/observer.ts";
import type { LazySession } from "../lazy-session.ts";
import type { Budget, Rules, Tools } from "../ports.ts";
import type { SharedParts } from "../shared-parts.ts";
import type { OpenAction } from "../state/conversation-state.ts";
import type { Signals } from "../signals.ts";
import type { Hold } from "./hold.ts";
import type { HookSlot } from "../hook-gate.ts";
import type { AgentRequests } from "../../agent/agent-requests.ts";
import type { ViewEvent } from "../../agent/history-view.ts";

/** The calls that an earlier process left open. */
export interface EarlierRuns {
  /** True for a call that it may have started. */
  mayHaveBegun(actionId: string): boolean;
  /** True while the store is unavailable: a run that continued would repeat calls that another node has started. */
  readonly isUnsettled: boolean;
}

/** Calls of client tools whose results the run waits for. */
export interface AwaitedCalls {
  isAwaited(toolName: string): boolean;
  /** Hands an open call to the client, unless an earlier process has. */
  handOver(action: OpenAction): readonly EventDraft[];
  /**
   * Resolves with the result, or with an error at the deadline; null if the work was stopped or the process ends. The
   * result is stored already, the error is not.
   */
  wait(action: OpenAction, signal: AbortSignal): Promise<Outcome | null>;
}

/** The rules that count for one run. */
export interface TurnRules {
  current(): Promise<{ readonly rules: readonly SourcedRule[] }>;
}

/** The turns of a conversation whose agent is another program; see `engine/acp`. */
export interface OtherTurns {
  /** True from the prompt to the record of its end, also while it waits for a person. */
  readonly isLive: boolean;
  /** The message in progress. */
  readonly text: string;
  /** One step of a run, in the place of a model call. */
  step(deps: RunDeps, signal: AbortSignal, rules: TurnRules): Promise<void>;
  /** Cancels the prompt: the log has what halted it, with the message so far. */
  abort(): void;
  /** The same where the log does not have the message so far. */
  leave(): void;
  ended(): Promise<void>;
}

/** Dependencies of a run and its parts. */
export type RunDeps = SharedParts & {
  /** Set if a client halted the work and the log could not record it yet. */
  readonly hold: Pick<Hold, "isOn">;
  readonly session: Pick<LazySession, "open">;
  readonly earlier: EarlierRuns;
  /** Null for an agent with a model. */
  readonly acp: OtherTurns | null;
  /** Builds the requests from a view incrementally, also across runs, while the view is cached. */
  readonly requests: (view: readonly ViewEvent[]) => AgentRequests;
  /** Calls that the client carries out. */
  readonly clientCalls: AwaitedCalls;
  readonly condensing: Condensing;
  readonly hooks: Pick<HookSlot, "gate">;
  readonly signals: Signals;
  readonly tools: Pick<Tools, "workspaceDir">;
  /** Called before each model call. */
  readonly budget: Budget;
  readonly rules: Pick<Rules, "auditReview" | "ofOwner" | "readProject" | "places">;
  readonly validator: Validator;
  /** For secrets with a URL. */
  readonly fetch: Fetch;
  readonly observer: Observer;
};

/** False once a client halted the run; call inside the mailbox. */
export function isWanted({ log, hold }: Pick<RunDeps, "log" | "hold">, signal: AbortSignal): boolean {
  return !signal.aborted && !hold.isOn && log.state.status === "running";
}
