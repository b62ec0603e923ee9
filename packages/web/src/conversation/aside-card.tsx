import { X } from "lucide-react";
import { Markdown } from "../text/markdown.tsx";
import { IconButton } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";

type AsideCardProps = {
  readonly question: string;
  /** Null until it has arrived. */
  readonly answer: string | null;
  readonly onClose: () => void;
};

/** A side question and its answer; neither is added to the conversation. */
export default function AsideCard({ question, answer, onClose }: AsideCardProps) {
  const words = useMoreWords().commands;
  const { close } = useWords().common;
  return (
    <section
      aria-label={words.aside}
      className="mb-2 flex max-h-[40dvh] flex-col rounded-lg border border-line bg-raised"
    >
      <header className="flex items-center gap-2 py-1 pr-1.5 pl-3 text-sm">
        <h2 className="min-w-0 grow truncate font-medium">{question}</h2>
        <IconButton label={close} onClick={onClose}>
          <X size={15} />
        </IconButton>
      </header>
      <div
        role="group"
        aria-label={words.answer}
        aria-live="polite"
        tabIndex={0}
        className="overflow-y-auto px-3 pb-2.5 text-sm"
      >
        {answer === null ? <p className="text-faint">{words.asking}</p> : <Markdown text={answer} />}
      </div>
    </section>
  );
}
