import type { AutomationRunState } from "@convoke/protocol";
import { CheckCircle2, Circle, CircleSlash, LoaderCircle, Replace, TriangleAlert } from "lucide-react";
import { useMoreWords } from "../words/words.ts";

/** The state of a run as a shape, a colour and a word: never by colour alone. */
export function RunMark({ state }: { readonly state: AutomationRunState }) {
  const label = useMoreWords().automations.states[state];
  const props = { size: 14, role: "img", "aria-label": label } as const;
  switch (state) {
    case "queued":
    case "claimed":
      return <Circle {...props} className="shrink-0 text-faint" />;
    case "started":
      return <LoaderCircle {...props} className="shrink-0 animate-turn text-accent" />;
    case "finished":
      return <CheckCircle2 {...props} className="shrink-0 text-good" />;
    case "failed":
      return <TriangleAlert {...props} className="shrink-0 text-bad" />;
    case "replaced":
      return <Replace {...props} className="shrink-0 text-faint" />;
    case "skipped":
      return <CircleSlash {...props} className="shrink-0 text-faint" />;
  }
}
