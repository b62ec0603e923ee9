import { CircleCheck, CircleDot, Circle } from "lucide-react";
import type { Task } from "@convoke/client/view";
import { useMoreWords } from "../words/words.ts";

const icons = {
  done: { Shape: CircleCheck, colour: "text-good" },
  in_progress: { Shape: CircleDot, colour: "text-accent" },
  todo: { Shape: Circle, colour: "text-faint" },
} as const;

export function TaskList({ tasks }: { readonly tasks: readonly Task[] }) {
  const words = useMoreWords().tasks;
  return (
    <ol className="px-3 py-2">
      {tasks.map(({ title, notes, status }, index) => {
        const { Shape, colour } = icons[status];
        return (
          // A plan may contain a task twice; the index tells them apart.
          // eslint-disable-next-line react/no-array-index-key
          <li key={index} className="flex gap-2 py-0.5">
            <Shape size={14} role="img" aria-label={words[status]} className={`mt-0.5 shrink-0 ${colour}`} />
            <span className={status === "done" ? "text-faint" : ""}>
              {title}
              {notes !== "" && <span className="block text-xs text-faint">{notes}</span>}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
