import { ChevronRight, Eye } from "lucide-react";
import { type ActionRow, isSearch } from "@convoke/client/view";
import { ActionCard } from "../cards/action-card.tsx";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { useWords } from "../words/words.ts";
import { PlainRow } from "./plain-row.tsx";
import type { RowContext } from "./row-view.tsx";

type GroupViewProps = {
  readonly id: string;
  readonly rows: readonly ActionRow[];
  readonly openIds: ReadonlySet<string>;
  readonly context: RowContext;
};

/** A group of read-only actions in one line. */
export function GroupView({ id, rows, openIds, context }: GroupViewProps) {
  const words = useWords().turn;
  const isOpen = openIds.has(id);
  const searches = rows.filter(isSearch);
  return (
    <div>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => context.onToggle(id)}
        className="flex w-full items-center gap-2 rounded-md py-1 pr-2 pl-1.5 text-left text-sm hover:bg-hover pointer-coarse:min-h-11"
      >
        <ChevronRight
          size={13}
          className={`shrink-0 text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
        />
        <Eye size={14} className="shrink-0 text-faint" aria-hidden="true" />
        <span>{words.searched(rows.length - searches.length, searches.length)}</span>
      </button>
      {isOpen && (
        <div className="ml-4 border-l border-line pl-1">
          {rows.map((row) => (
            <ErrorBoundary
              key={row.id}
              versions={[row, openIds.has(row.id)]}
              fallback={<PlainRow row={row} />}
            >
              <ActionCard
                row={row}
                conversationId={context.conversationId}
                folder={context.folder}
                isOpen={openIds.has(row.id)}
                onToggle={context.onToggle}
                isRunning={context.isRunning}
                progress={context.progress}
                menu={context.onMenu}
                thread={null}
              />
            </ErrorBoundary>
          ))}
        </div>
      )}
    </div>
  );
}
