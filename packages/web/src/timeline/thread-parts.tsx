import type { ReactNode } from "react";
import { foldTurns } from "@convoke/client/view";
import { lazyPart } from "../lib/lazy-part.ts";
import { FollowEnd } from "./follow-end.ts";
import { GroupView } from "./group-view.tsx";
import { itemsOf } from "./items.ts";
import { LiveView } from "./live-view.tsx";
import { RowView } from "./row-view.tsx";
import type { TaskThreadParts } from "./task-thread-parts.ts";

const TaskThread = lazyPart(() => import("./task-thread.tsx"));

/** The components of this page for a timeline inside a card. */
export const threadParts: TaskThreadParts = {
  RowView,
  GroupView,
  LiveView,
  foldTurns,
  itemsOf,
  FollowEnd,
  drawThread,
};

function drawThread(id: string, report: ReactNode): ReactNode {
  return <TaskThread id={id} report={report} parts={threadParts} />;
}
