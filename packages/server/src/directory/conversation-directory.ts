import type { Directory } from "./directory.ts";

/** What faces ask of a directory, be it of all conversations or of those in one sandbox. */
export type ConversationDirectory = Pick<
  Directory,
  | "create"
  | "open"
  | "watch"
  | "exists"
  | "head"
  | "describe"
  | "describeMany"
  | "search"
  | "count"
  | "delete"
>;
