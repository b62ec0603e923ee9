import { memo, type ReactNode } from "react";
import { type ActionRow, isFinish, type Row, taskOf, textAt } from "@convoke/client/view";
import { ActionCard } from "../cards/action-card.tsx";
import type { Store } from "../lib/store.ts";
import { Markdown } from "../text/markdown.tsx";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { AnswerView, MessageView, Reasoning } from "./message-view.tsx";
import { NoteView } from "./note-view.tsx";
import { PlainRow } from "./plain-row.tsx";
import type { RowMenu } from "./row-menu.ts";

export type RowContext = {
  readonly conversationId: string;
  readonly folder: string | null;
  readonly isRunning: boolean;
  readonly progress: Store<ReadonlyMap<string, string>>;
  readonly onToggle: (id: string) => void;
  /** Null if the log is read-only. */
  readonly onMenu: RowMenu | null;
  /** True in a sub-agent's conversation: its messages come from another agent. */
  readonly isTask?: boolean;
  /** Renders the conversation of a task by id, with a fallback if it was deleted. */
  readonly thread: (id: string, report: ReactNode) => ReactNode;
};

type RowViewProps = {
  readonly row: Row;
  readonly isOpen: boolean;
  readonly context: RowContext;
};

/** One row of the timeline; memoised. */
export const RowView = memo(function RowView(props: RowViewProps) {
  return (
    <ErrorBoundary versions={[props.row, props.isOpen]} fallback={<PlainRow row={props.row} />}>
      <RowCard {...props} />
    </ErrorBoundary>
  );
});

function RowCard({ row, isOpen, context }: RowViewProps) {
  switch (row.type) {
    case "message":
      return <MessageView row={row} menu={context.onMenu} isOrder={context.isTask === true} />;
    case "answer":
      return (
        <AnswerView
          id={row.id}
          text={row.text}
          images={row.images}
          reasoning={row.reasoning}
          menu={context.onMenu}
        />
      );
    case "action":
      return <ActionView row={row} isOpen={isOpen} context={context} />;
    default:
      return <NoteView row={row} isOpen={isOpen} onToggle={context.onToggle} />;
  }
}

function ActionView({
  row,
  isOpen,
  context,
}: {
  readonly row: ActionRow;
  readonly isOpen: boolean;
  readonly context: RowContext;
}) {
  const content = (
    <>
      {row.reasoning !== "" && <Reasoning text={row.reasoning} />}
      {row.thought !== "" && (
        <div className="py-1">
          <Markdown text={row.thought} />
        </div>
      )}
    </>
  );
  const task = taskOf(row);
  const thread =
    task === null || task === context.conversationId
      ? null
      : (report: ReactNode) => context.thread(task, report);
  if (isFinish(row)) {
    return (
      <>
        {content}
        <AnswerView
          id={row.id}
          text={textAt(row.action, "message")}
          images={[]}
          reasoning=""
          menu={context.onMenu}
        />
      </>
    );
  }
  return (
    <>
      {content}
      <ActionCard
        row={row}
        conversationId={context.conversationId}
        folder={context.folder}
        isOpen={isOpen}
        onToggle={context.onToggle}
        isRunning={context.isRunning}
        progress={context.progress}
        menu={context.onMenu}
        thread={thread}
      />
    </>
  );
}
