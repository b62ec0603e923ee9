import type { Directory } from "./directory.ts";

/** The operations that faces need of a directory, over all conversations or those in one sandbox. */
export type ConversationDirectory = Pick<
  Directory,
  | "create"
  | "addSecrets"
  | "open"
  | "watch"
  | "exists"
  | "head"
  | "describe"
  | "describeMany"
  | "search"
  | "count"
  | "delete"
  | "nearQuotas"
>;
