import type { NewConversation } from "./journal.ts";

/** A conversation that is part of nothing and does nothing yet. */
export const restingConversation = {
  executionStatus: "idle",
  isActive: false,
  isCopying: false,
  sandboxId: null,
  parentId: null,
  host: null,
  appFacts: null,
  snapshot: null,
  snapshotSeq: 0,
} as const satisfies Partial<NewConversation>;
