export { ApiError } from "./api-error.ts";
export type { AttachOptions } from "./attach.ts";
export { describeRule, type RuleWords } from "./describe-rule.ts";
export type { ConnectionChange, ConnectionReason } from "./connection-change.ts";
export { ConnectionError } from "./connection-error.ts";
export {
  ConvokeClient,
  type CallInput,
  type ClientOptions,
  type ConversationSearch,
  type EventFilter,
  type EventSearch,
  type EventWindow,
} from "./convoke-client.ts";
export type { FollowItem, FollowOptions } from "./follow.ts";
export type { HttpOptions } from "./http.ts";
export type { OverviewItem, OverviewOptions } from "./overview.ts";
export type { BrowserOptions } from "./browser.ts";
export type { ShellOptions } from "./shell.ts";
export type { StreamOptions } from "./stream.ts";
export type { TerminalOptions } from "./terminal.ts";
export type { Trimmed } from "./untrim.ts";
export {
  serveClientTools,
  type ClientTool,
  type ClientToolOptions,
  type ClientToolOutput,
} from "./client-tools.ts";
export {
  emptyView,
  type ConversationView,
  type HeldMessage,
  type ModelRetry,
  type OpenAction,
} from "./view/conversation-view.ts";
export { foldEvents, foldItem, viewOf, waitingActions } from "./view/fold-view.ts";
export { spendOf, type Spend } from "./view/spend.ts";
export type { LiveAnswer, LiveItem } from "./view/live-answer.ts";
