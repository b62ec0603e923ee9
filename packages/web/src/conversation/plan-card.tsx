import { ClipboardList } from "lucide-react";
import { useMemo, useState } from "react";
import { foldPlan, pathWithin } from "@convoke/client/view";
import type { Attempt } from "./attempt.ts";
import { useFile } from "../services/use-file.ts";
import type { LogView } from "../log/open-log.ts";
import { useServices } from "../services/services.ts";
import { Markdown } from "../text/markdown.tsx";
import { visibleText } from "../text/visible-text.ts";
import { Button } from "../ui/button.tsx";
import { inputClass } from "../ui/field.tsx";
import { useMoreWords } from "../words/words.ts";

type PlanCardProps = {
  readonly conversationId: string;
  readonly view: LogView;
  readonly onAttempt: Attempt;
  /** Sends a message and continues planning. */
  readonly onChange: (text: string) => void;
};

/** The plan, with two buttons: approve it, or request changes. */
export default function PlanCard({ conversationId, view, onAttempt, onChange }: PlanCardProps) {
  const words = useMoreWords().plan;
  const { client } = useServices();
  const [isSent, setIsSent] = useState(false);
  const [wish, setWish] = useState<string | null>(null);
  const plan = useMemo(() => foldPlan(view.newest), [view.newest]);
  const approve = async (): Promise<void> => {
    setIsSent(true);
    // The log ends plan mode, which removes this card.
    if (!(await onAttempt(() => client.approvePlan(conversationId)))) setIsSent(false);
  };
  return (
    <section
      aria-label={words.title}
      className="mb-2 flex max-h-[55dvh] flex-col rounded-lg border border-accent bg-canvas"
    >
      <header className="flex items-center gap-2 px-3 pt-2 text-sm">
        <ClipboardList size={15} className="shrink-0 text-accent" aria-hidden="true" />
        <h2 className="font-medium">{words.title}</h2>
        {plan !== null && (
          <span className="min-w-0 truncate font-mono text-xs text-faint">
            {visibleText(pathWithin(plan.path, view.state.workingDir))}
          </span>
        )}
      </header>
      {plan === null ? (
        <p className="px-3 py-1.5 text-sm text-soft">{words.none}</p>
      ) : (
        <PlanText conversationId={conversationId} path={plan.path} version={plan.version} />
      )}
      {wish === null ? (
        <footer className="flex flex-wrap items-center gap-2 px-3 pt-1.5 pb-2.5 pointer-coarse:gap-3">
          <Button variant="primary" disabled={isSent} onClick={() => void approve()}>
            {isSent ? words.sending : words.approve}
          </Button>
          <Button disabled={isSent} onClick={() => setWish("")}>
            {words.change}
          </Button>
        </footer>
      ) : (
        <form
          className="flex flex-wrap items-center gap-2 px-3 pt-1.5 pb-2.5"
          onSubmit={(event) => {
            event.preventDefault();
            if (wish.trim() === "") return;
            onChange(wish.trim());
            setWish(null);
          }}
        >
          <input
            className={`${inputClass} min-w-40 grow basis-60`}
            aria-label={words.wish}
            placeholder={words.wish}
            value={wish}
            maxLength={10_000}
            // The user has just opened this field.
            // eslint-disable-next-line jsx-a11y/no-autofocus
            autoFocus
            onChange={(event) => setWish(event.target.value)}
            onKeyDown={(event) => event.key === "Escape" && setWish(null)}
          />
          <Button type="submit" variant="primary" disabled={wish.trim() === ""}>
            {words.send}
          </Button>
          <Button variant="quiet" onClick={() => setWish(null)}>
            {words.back}
          </Button>
        </form>
      )}
    </section>
  );
}

type PlanTextProps = { readonly conversationId: string; readonly path: string; readonly version: string };

/** The plan as stored in its file, which the user may have edited. */
function PlanText({ conversationId, path, version }: PlanTextProps) {
  const words = useMoreWords();
  const { content, problem } = useFile(conversationId, path, version);
  return (
    <div
      role="group"
      aria-label={words.plan.text}
      tabIndex={0}
      className="mx-3 mt-1.5 min-h-16 overflow-y-auto rounded border border-line px-3 py-2 text-sm"
    >
      {problem !== null && <p className="text-bad">{problem}</p>}
      {content?.type === "text" && <Markdown text={content.text} />}
      {content !== null && content.type !== "text" && <p className="text-faint">{words.files.binary}</p>}
    </div>
  );
}
