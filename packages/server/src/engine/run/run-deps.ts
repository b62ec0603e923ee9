import type { Validator } from "@convoke/protocol/validate";
import type { AgentRequests } from "../../agent/agent-requests.ts";
import type { Condensing } from "../../agent/condense/condensing.ts";
import type { ViewEvent } from "../../agent/history-view.ts";
import type { EventDraft } from "../../events/event-draft.ts";
import type { Fetch } from "../../lib/filtered-fetch.ts";
import type { Logger } from "../../lib/logger.ts";
import type { Model } from "../../models/model.ts";
import type { Observer } from "../../observability/observer.ts";
import type { ConversationConfig, ConversationSecrets } from "../conversation-config.ts";
import type { ConversationLog } from "../conversation-log.ts";
import type { HookGate } from "./hook-gate.ts";
import type { Signals } from "../signals.ts";
import type { ToolBelt } from "../tool-belt.ts";

/** What a run and its parts work with. */
export type RunDeps = {
  readonly conversationId: string;
  readonly log: ConversationLog;
  /** Runs a job in the conversation's mailbox; everything that reads or writes the log happens there. */
  readonly post: <Result>(job: () => Promise<Result> | Result) => Promise<Result>;
  /** True when a client halted the work although the log could not be told yet. */
  readonly isHeld: () => boolean;
  readonly openSession: () => Promise<ToolBelt>;
  /** True for a call that an earlier process may have begun. */
  readonly mayHaveBegun: (actionId: string) => boolean;
  /** What the log begins with, where a message came before the tools were there. */
  readonly firstEvents: (session: ToolBelt) => EventDraft[];
  readonly openModel: () => Model;
  /** Builds requests from this view at the price of what came since the last one, also of an earlier run. */
  readonly requestsOf: (view: readonly ViewEvent[]) => AgentRequests;
  readonly condensing: Condensing;
  readonly config: () => ConversationConfig;
  readonly secrets: () => ConversationSecrets;
  /** For secrets that are looked up; Node's own when absent. */
  readonly fetch?: Fetch;
  readonly signals: Signals;
  /** Null when the conversation has no hooks. */
  readonly hooks: HookGate | null;
  /** Says which budget is used up; null while there is money. Asked before each model call. */
  readonly overBudget: () => Promise<string | null>;
  readonly nowMs: () => number;
  readonly validator: Validator;
  readonly logger: Logger;
  /** Nobody looks on when absent. */
  readonly observer?: Observer;
};

/** False once a client took the run away; asked inside the mailbox. */
export function isWanted({ log, isHeld }: Pick<RunDeps, "log" | "isHeld">, signal: AbortSignal): boolean {
  return !signal.aborted && !isHeld() && log.state.status === "running";
}
