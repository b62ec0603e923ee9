import { asLoose, listAt, looseAt, numberAt, textAt, textsAt, type Loose } from "../lib/loose.ts";

export type ModelRetry = { readonly attempt: number; readonly code: string; readonly until: string };

/** What a conversation is and does, as the newest updates say. */
export type LogState = {
  readonly status: string;
  readonly title: string | null;
  readonly model: string | null;
  /** Whether the agent may change nothing but its plan. */
  readonly isPlanning: boolean;
  readonly workingDir: string | null;
  /** `kind` of the confirmation policy. */
  readonly policy: string;
  /** US dollars. */
  readonly cost: number;
  readonly budget: number | null;
  /** Tokens of the newest call of the agent's own model, and how many it can take. */
  readonly contextTokens: number;
  readonly contextWindow: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly retry: ModelRetry | null;
  readonly parentId: string | null;
  /** Actions that wait for their user, and messages that the model was not given, by id. */
  readonly waiting: readonly string[];
  readonly queued: readonly string[];
  /** `version` of the newest snapshot that was taken in. */
  readonly version: number;
};

export const emptyState: LogState = {
  status: "idle",
  title: null,
  model: null,
  isPlanning: false,
  workingDir: null,
  policy: "NeverConfirm",
  cost: 0,
  budget: null,
  contextTokens: 0,
  contextWindow: 0,
  tokensIn: 0,
  tokensOut: 0,
  retry: null,
  parentId: null,
  waiting: [],
  queued: [],
  version: -1,
};

/** Takes in a conversation as REST answers it, or the value of a snapshot; one that is older than what is known changes nothing (P36). */
export function withSnapshot(state: LogState, value: Loose): LogState {
  const version = numberAt(value, "version") ?? state.version;
  if (version < state.version) return state;
  const known = [
    "execution_status",
    "agent",
    "workspace",
    "confirmation_policy",
    "stats",
    "title",
    "max_budget_per_task",
  ];
  let next: LogState = { ...state, version };
  for (const key of known) if (value[key] !== undefined) next = withValue(next, key, value[key]);
  const parent = textAt(value, "parent_conversation_id");
  return parent === "" ? next : { ...next, parentId: parent };
}

/** Takes in what the server says of calls and messages, which events do not say. */
export function withLiveStatus(state: LogState, frame: Loose): LogState {
  const version = numberAt(frame, "version") ?? state.version;
  if (version < state.version) return state;
  const waiting = listAt(frame, "open_actions")
    .map(asLoose)
    .filter((action) => action?.["is_waiting"] === true)
    .map((action) => textAt(action, "action_id"));
  return { ...state, version, waiting, queued: textsAt(frame, "queued") };
}

/** Takes in one stored event; the same state when it says nothing about it. */
export function withEvent(state: LogState, event: Loose): LogState {
  if (event["kind"] !== "ConversationStateUpdateEvent") return state;
  return withValue(state, textAt(event, "key"), event["value"]);
}

function withValue(state: LogState, key: string, value: unknown): LogState {
  const fields = asLoose(value);
  switch (key) {
    case "execution_status":
      return typeof value === "string" ? { ...state, status: value } : state;
    case "title":
      return { ...state, title: typeof value === "string" ? value : null };
    case "agent":
      return {
        ...state,
        model: textAt(looseAt(fields, "llm"), "model") || state.model,
        isPlanning: textAt(fields, "system_prompt_filename") === "system_prompt_planning.j2",
      };
    case "workspace":
      return { ...state, workingDir: textAt(fields, "working_dir") || state.workingDir };
    case "confirmation_policy":
      return { ...state, policy: textAt(fields, "kind") || state.policy };
    case "max_budget_per_task":
      return { ...state, budget: typeof value === "number" ? value : null };
    case "model_retry":
      return { ...state, retry: fields === null ? null : retryOf(fields) };
    case "stats":
      return fields === null ? state : { ...state, ...spentOf(fields) };
    default:
      return state;
  }
}

function retryOf(fields: Loose): ModelRetry {
  return {
    attempt: numberAt(fields, "attempt") ?? 1,
    code: textAt(fields, "code"),
    until: textAt(fields, "until"),
  };
}

/** What a `stats` update says. */
export function spentOf(
  stats: Loose,
): Pick<LogState, "cost" | "contextTokens" | "contextWindow" | "tokensIn" | "tokensOut"> {
  const byUsage = looseAt(stats, "usage_to_metrics") ?? stats;
  const sum = { cost: 0, contextTokens: 0, contextWindow: 0, tokensIn: 0, tokensOut: 0 };
  for (const [usageId, value] of Object.entries(byUsage)) {
    const metrics = asLoose(value);
    const usage = looseAt(metrics, "accumulated_token_usage");
    sum.cost += numberAt(metrics, "accumulated_cost") ?? 0;
    sum.tokensIn += numberAt(usage, "prompt_tokens") ?? 0;
    sum.tokensOut += numberAt(usage, "completion_tokens") ?? 0;
    // What fills the window is what the agent itself reads; titles and summaries are asked beside it.
    if (usageId !== "agent" && Object.keys(byUsage).length > 1 && sum.contextTokens > 0) continue;
    sum.contextTokens = numberAt(usage, "per_turn_token") ?? 0;
    sum.contextWindow = numberAt(usage, "context_window") ?? 0;
  }
  return sum;
}
