import {
  Bot,
  ChevronRight,
  FilePen,
  FileText,
  FolderOpen,
  Globe,
  LoaderCircle,
  ListChecks,
  Search,
  Sparkles,
  Lightbulb,
  SquareTerminal,
  Wrench,
} from "lucide-react";
import { memo, Suspense, useMemo, type ReactNode } from "react";
import {
  type ActionRow,
  editsOf,
  firstLine,
  foldTaskList,
  foundCount,
  hasFailed,
  type Icon,
  numberAt,
  shownDuration,
  summarizeCall,
} from "@convoke/client/view";
import { useStore, type Store } from "../lib/store.ts";
import { withoutColours } from "../text/without-colours.ts";
import { StateMark } from "../ui/state-mark.tsx";
import { visibleText } from "../text/visible-text.ts";
import { useWords, type Words } from "../words/words.ts";
import { Changed } from "./changed.tsx";
import { lazyPart } from "../lib/lazy-part.ts";
import type { CardMenu } from "./card-menu.ts";

const ActionBody = lazyPart(() => import("./action-body.tsx"));

const icons: Readonly<Record<Icon, typeof Bot>> = {
  terminal: SquareTerminal,
  edit: FilePen,
  read: FileText,
  search: Search,
  list: FolderOpen,
  tasks: ListChecks,
  agent: Bot,
  browser: Globe,
  thought: Lightbulb,
  tool: Wrench,
  skill: Sparkles,
};

type ActionCardProps = {
  readonly row: ActionRow;
  readonly conversationId: string;
  readonly folder: string | null;
  readonly isOpen: boolean;
  readonly onToggle: (id: string) => void;
  /** Whether the tool runs now; an action without an answer may also wait or have been interrupted. */
  readonly isRunning: boolean;
  /** Streamed output of running tools. */
  readonly progress: Store<ReadonlyMap<string, string>>;
  /** Null if the log is read-only. */
  readonly menu: CardMenu | null;
  /** Renders the sub-agent's conversation, with a fallback if there is none. */
  readonly thread: ((report: ReactNode) => ReactNode) | null;
};

/** One tool call: a summary line, and its arguments and result below. */
export const ActionCard = memo(function ActionCard({
  row,
  conversationId,
  folder,
  isOpen,
  onToggle,
  isRunning,
  progress,
  menu,
  thread,
}: ActionCardProps) {
  const words = useWords();
  const summary = summarizeCall(row, folder);
  const IconShape = icons[summary.icon];
  const isBad = hasFailed(row);
  const progressText = useStore(progress).get(row.id) ?? null;
  const title = row.summary || verbOf(row, words);
  return (
    <div className={`rounded-md ${isOpen ? "border border-line" : "border border-transparent"}`}>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => onToggle(row.id)}
        className={`flex w-full items-center gap-2 rounded-md py-1 pr-2 pl-1.5 text-left text-sm hover:bg-hover pointer-coarse:min-h-11 ${isOpen ? "rounded-b-none border-b border-line bg-raised" : ""}`}
      >
        <ChevronRight
          size={13}
          className={`shrink-0 text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
        />
        <IconShape size={14} className={`shrink-0 ${isBad ? "text-bad" : "text-faint"}`} aria-hidden="true" />
        <span className="max-w-[55%] shrink-0 truncate">{title}</span>
        <span className={`min-w-0 grow truncate text-faint ${summary.isCode ? "font-mono text-xs" : ""}`}>
          {visibleText(firstLine(summary.text))}
        </span>
        {progressText !== null && !isOpen && (
          <span className="max-w-[30%] shrink-0 truncate font-mono text-xs text-faint">
            {lastLine(progressText)}
          </span>
        )}
        <CardState row={row} isRunning={isRunning} />
      </button>
      {isOpen && (
        <Suspense fallback={<div className="h-8" />}>
          <ActionBody
            row={row}
            conversationId={conversationId}
            folder={folder}
            progress={progressText}
            menu={menu}
            thread={thread}
          />
        </Suspense>
      )}
    </div>
  );
});

/** The short result at the right of a card. */
function CardState({ row, isRunning }: { readonly row: ActionRow; readonly isRunning: boolean }) {
  const words = useWords().card;
  const { outcome } = row;
  if (outcome === null) {
    if (!isRunning) return null;
    if (row.task !== null) return <StateMark status={row.task.status} size={13} />;
    return (
      <LoaderCircle
        size={13}
        role="img"
        aria-label={words.running}
        className="shrink-0 animate-turn text-accent"
      />
    );
  }
  const ms = Date.parse(outcome.at) - Date.parse(row.at);
  return (
    <span className="flex shrink-0 items-center gap-2.5 text-xs text-faint tabular-nums">
      {outcome.type === "rejected" && (
        <span className="text-warn">{outcome.by === "hook" ? words.blocked : words.rejected}</span>
      )}
      {outcome.type === "failed" && <span className="text-bad">{words.failed}</span>}
      {outcome.type === "result" && <ResultState row={row} />}
      {ms >= 1_000 && <span>{shownDuration(ms)}</span>}
    </span>
  );
}

function ResultState({ row }: { readonly row: ActionRow }) {
  const words = useWords().card;
  const edits = useMemo(() => editsOf(row), [row]);
  if (row.outcome?.type !== "result") return null;
  const { observation, isError } = row.outcome;
  // With several files, the counts are in the expanded card.
  if (edits.length > 1) return <span>{words.files(edits.length)}</span>;
  if (edits[0] !== undefined) return <Changed edit={edits[0]} />;
  const exitCode = numberAt(observation, "exit_code");
  if (exitCode === -1) return <span className="text-accent">{words.stillRuns}</span>;
  if (exitCode !== null && exitCode !== 0) return <span className="text-bad">{words.exit(exitCode)}</span>;
  const found = foundCount(observation);
  if (found !== null) return <span>{words.found(found)}</span>;
  return isError ? <span className="text-bad">{words.failed}</span> : null;
}

function verbOf(row: ActionRow, { card: words }: Words): string {
  if (row.action?.["kind"] === "TaskTrackerAction") {
    const tasks = foldTaskList([row]);
    const done = tasks.filter(({ status }) => status === "done").length;
    return tasks.length === 0 ? words.tasks : words.tasksDone(done, tasks.length);
  }
  return row.tool;
}

function lastLine(text: string): string {
  return withoutColours(text).trimEnd().split("\n").at(-1) ?? "";
}
