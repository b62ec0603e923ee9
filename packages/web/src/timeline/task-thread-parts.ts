import type { ReactNode } from "react";
import type { foldTurns } from "@convoke/client/view";
import type { FollowEnd } from "./follow-end.ts";
import type { GroupView } from "./group-view.tsx";
import type { itemsOf } from "./items.ts";
import type { LiveView } from "./live-view.tsx";
import type { RowView } from "./row-view.tsx";

/**
 * The components that a timeline inside a card needs. They are passed in instead of imported, because a module that
 * two chunks share becomes a chunk of its own, and the first load would be many small ones.
 */
export type TaskThreadParts = {
  readonly RowView: typeof RowView;
  readonly GroupView: typeof GroupView;
  readonly LiveView: typeof LiveView;
  readonly foldTurns: typeof foldTurns;
  readonly itemsOf: typeof itemsOf;
  readonly FollowEnd: typeof FollowEnd;
  /** Renders the conversation of a task by id, with `report` as fallback if it was deleted. */
  readonly drawThread: (id: string, report: ReactNode) => ReactNode;
};
