import type { ReactNode } from "react";
import type { foldTurns } from "../folds/fold-turns.ts";
import type { FollowEnd } from "./follow-end.ts";
import type { GroupView } from "./group-view.tsx";
import type { itemsOf } from "./items.ts";
import type { LiveView } from "./live-view.tsx";
import type { RowView } from "./row-view.tsx";

/**
 * What a timeline is drawn with, for one inside a card. It comes later and is handed these instead of importing them: what two
 * files load is a file of its own, and the first load would be many small ones.
 */
export type TaskThreadParts = {
  readonly RowView: typeof RowView;
  readonly GroupView: typeof GroupView;
  readonly LiveView: typeof LiveView;
  readonly foldTurns: typeof foldTurns;
  readonly itemsOf: typeof itemsOf;
  readonly FollowEnd: typeof FollowEnd;
  /** Draws the conversation of a task by its id, with `report` in its place where it is gone. */
  readonly drawThread: (id: string, report: ReactNode) => ReactNode;
};
