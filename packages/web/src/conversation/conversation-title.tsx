import { spendOf, type ConversationView } from "@convoke/client";
import { Suspense } from "react";
import { shownCost, shownCount } from "@convoke/client/view";
import { titleIdOf } from "../lib/title-id.ts";
import { statusWord } from "../ui/state-mark.tsx";
import { useMoreWords, useWords } from "../words/words.ts";

type ConversationTitleProps = { readonly state: ConversationView; readonly id: string };

/** Title and status; on phones stacked, with the cost that `Meters` shows elsewhere. */
export function ConversationTitle({ state, id }: ConversationTitleProps) {
  const words = useWords();
  return (
    <div className="flex min-w-0 items-center gap-2.5 max-[720px]:flex-col max-[720px]:items-stretch max-[720px]:gap-0">
      <h1 id={titleIdOf(id)} className="min-w-0 truncate font-medium max-[720px]:leading-tight">
        {state.title ?? words.rail.untitled}
      </h1>
      <div className="flex shrink-0 gap-2 text-xs text-faint max-[720px]:leading-tight">
        <span>{statusWord(words, state.status)}</span>
        <Suspense>
          <Cost state={state} className="truncate min-[721px]:hidden" />
        </Suspense>
      </div>
    </div>
  );
}

type CostProps = { readonly state: ConversationView; readonly className: string };

/** The cost of a conversation, and its budget if it has one. */
export function Cost({ state, className }: CostProps) {
  const words = useMoreWords().meter;
  const { cost, promptTokens, completionTokens } = spendOf(state);
  return (
    <span
      title={words.tokens(shownCount(promptTokens), shownCount(completionTokens))}
      className={`tabular-nums ${className}`}
    >
      <span className="sr-only">{words.costLabel}</span>
      {state.budget === null ? shownCost(cost) : words.ofBudget(shownCost(cost), shownCost(state.budget))}
    </span>
  );
}
