import { ListChecks } from "lucide-react";
import { useMemo, useState } from "react";
import { foldTaskList, type Row } from "@convoke/client/view";
import { TaskList } from "../cards/task-list.tsx";
import { useMoreWords } from "../words/words.ts";

/** The agent's current task list in one collapsible line. Nothing if there is none, or all is done. */
export default function TaskStrip({ rows }: { readonly rows: readonly Row[] }) {
  const words = useMoreWords().tasks;
  const tasks = useMemo(() => foldTaskList(rows), [rows]);
  const [isOpen, setIsOpen] = useState(false);
  const done = tasks.filter(({ status }) => status === "done").length;
  if (tasks.length === 0 || done === tasks.length) return null;
  const current = tasks.find(({ status }) => status === "in_progress");
  return (
    <div className="border-b border-line text-sm">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
        className="mx-auto flex w-full max-w-[52rem] items-center gap-2 px-5 py-1 text-left text-soft hover:text-ink max-[720px]:px-3 pointer-coarse:min-h-11"
      >
        <ListChecks size={14} className="shrink-0 text-faint" aria-hidden="true" />
        <span className="shrink-0">{words.progress(done, tasks.length)}</span>
        {current !== undefined && <span className="truncate text-faint">{words.now(current.title)}</span>}
      </button>
      {isOpen && (
        <div className="mx-auto max-h-64 max-w-[52rem] overflow-y-auto px-2">
          <TaskList tasks={tasks} />
        </div>
      )}
    </div>
  );
}
