export { ApiError } from "./api-error.ts";
export { ConnectionError } from "./connection-error.ts";
export {
  ConvokeClient,
  type ClientOptions,
  type ConversationSearch,
  type EventFilter,
  type EventSearch,
  type EventTail,
} from "./convoke-client.ts";
export type { FollowItem, FollowOptions } from "./follow.ts";
