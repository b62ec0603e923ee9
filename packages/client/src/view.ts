export {
  emptyView,
  type ConversationView,
  type ModelRetry,
  type OpenAction,
} from "./view/conversation-view.ts";
export { foldEvents, foldItem, viewOf, waitingActions } from "./view/fold-view.ts";
export { spendOf, type Spend } from "./view/spend.ts";
export type { LiveAnswer, LiveItem } from "./view/live-answer.ts";
