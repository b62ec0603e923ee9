import { spendOf, type ConversationView } from "@convoke/client";
import { shownCount, shownPercent } from "@convoke/client/view";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";
import { Cost } from "./conversation-title.tsx";

type MetersProps = {
  readonly state: ConversationView;
  /** Opens the context panel; null if the context is empty or unknown. */
  readonly onContext?: (() => void) | null;
};

/** The used share of the context, and the cost. */
export default function Meters({ state, onContext = null }: MetersProps) {
  const words = useMoreWords().meter;
  const { language } = useServices();
  const { contextTokens, contextWindow } = spendOf(state);
  const share = contextWindow > 0 ? contextTokens / contextWindow : null;
  const colour = share === null || share < 0.8 ? "text-accent" : share < 0.95 ? "text-warn" : "text-bad";
  return (
    <div className="flex shrink-0 items-center gap-3 text-xs text-faint tabular-nums">
      {state.model !== null && (
        <span className="max-w-40 truncate max-[900px]:hidden">{modelName(state.model)}</span>
      )}
      {share !== null && (
        <button
          type="button"
          disabled={onContext === null}
          onClick={() => onContext?.()}
          className="flex items-center gap-1.5 rounded px-1 enabled:hover:bg-hover pointer-coarse:h-11 pointer-coarse:min-w-11 pointer-coarse:justify-center"
          title={words.context(shownCount(contextTokens), shownCount(contextWindow))}
        >
          <svg
            width="14"
            height="14"
            viewBox="0 0 14 14"
            aria-hidden="true"
            className={`-rotate-90 ${colour}`}
          >
            <circle cx="7" cy="7" r="5.5" fill="none" stroke="var(--color-line)" strokeWidth="2.5" />
            <circle
              cx="7"
              cy="7"
              r="5.5"
              fill="none"
              stroke="currentColor"
              strokeWidth="2.5"
              pathLength="100"
              strokeDasharray={`${Math.min(100, share * 100)} 100`}
            />
          </svg>
          <span className="sr-only">{words.contextLabel}</span>
          <span className="max-[720px]:sr-only">{shownPercent(share, language)}</span>
        </button>
      )}
      <Cost state={state} className="max-[720px]:hidden" />
    </div>
  );
}

/** Without the provider prefix. */
function modelName(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1);
}
