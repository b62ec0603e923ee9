import { ChevronDown, ChevronRight } from "lucide-react";
import { useMemo } from "react";
import { numbersOf, shownDuration, type Turn } from "@convoke/client/view";
import { useWords } from "../words/words.ts";

type TurnLineProps = {
  readonly turn: Turn;
  readonly isOpen: boolean;
  readonly onToggle: (turn: Turn) => void;
};

/** A turn in one line: number of steps and result. Toggles the turn. */
export function TurnLine({ turn, isOpen, onToggle }: TurnLineProps) {
  const words = useWords().turn;
  const { steps, failed, files, durationMs } = useMemo(() => numbersOf(turn), [turn]);
  const Arrow = isOpen ? ChevronDown : ChevronRight;
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={() => onToggle(turn)}
      className="flex w-full items-center gap-2 rounded-md py-1 pr-2 pl-1.5 text-left text-xs text-faint hover:bg-hover pointer-coarse:min-h-11"
    >
      <Arrow size={13} className="shrink-0" />
      <span>{words.steps(steps)}</span>
      {files > 0 && <span>{words.files(files)}</span>}
      {failed > 0 && <span className="text-bad">{words.failed(failed)}</span>}
      {durationMs > 0 && <span>{shownDuration(durationMs)}</span>}
      <span className="h-px grow bg-line" />
    </button>
  );
}
