import type { ReactNode } from "react";
import { foldTurns } from "../folds/fold-turns.ts";
import { lazyPart } from "../lib/lazy-part.ts";
import { FollowEnd } from "./follow-end.ts";
import { GroupView } from "./group-view.tsx";
import { itemsOf } from "./items.ts";
import { LiveView } from "./live-view.tsx";
import { RowView } from "./row-view.tsx";

const TaskThread = lazyPart(() => import("./task-thread.tsx"));

/**
 * What a timeline is drawn with, for one inside a card. It comes later and is handed these instead of importing them: what two
 * files load is a file of its own, and the first load would be many small ones.
 */
export const threadParts = {
  RowView,
  GroupView,
  LiveView,
  foldTurns,
  itemsOf,
  FollowEnd,
  drawThread,
} as const;

export type ThreadParts = typeof threadParts;

/** Draws the conversation of a task by its id, with what stands in its place where it is gone. */
function drawThread(id: string, report: ReactNode): ReactNode {
  return <TaskThread id={id} report={report} parts={threadParts} />;
}
