import { CheckCircle2, Circle, Diamond, LoaderCircle, Pause, TriangleAlert } from "lucide-react";
import { useWords, type Words } from "../words/words.ts";

/** What a conversation does as a shape, a colour and a word: never by colour alone. */
export function StateMark({ status, size = 14 }: { readonly status: string; readonly size?: number }) {
  const label = statusWord(useWords(), status);
  const props = { size, role: "img", "aria-label": label } as const;
  switch (status) {
    case "waiting_for_confirmation":
      return <Diamond {...props} className="shrink-0 fill-current text-warn" />;
    case "running":
      return <LoaderCircle {...props} className="shrink-0 animate-turn text-accent" />;
    case "error":
    case "stuck":
      return <TriangleAlert {...props} className="shrink-0 text-bad" />;
    case "finished":
      return <CheckCircle2 {...props} className="shrink-0 text-good" />;
    case "paused":
      return <Pause {...props} className="shrink-0 text-faint" />;
    default:
      return <Circle {...props} className="shrink-0 text-faint" />;
  }
}

export function statusWord({ status: words }: Words, status: string): string {
  const known: Readonly<Record<string, string>> = {
    waiting_for_confirmation: words.asks,
    running: words.working,
    error: words.error,
    stuck: words.stuck,
    finished: words.finished,
    idle: words.idle,
    paused: words.paused,
    deleting: words.deleting,
  };
  return known[status] ?? status;
}
