import type { ConversationView, LiveAnswer, LiveItem } from "@convoke/client";
import { Suspense } from "react";
import { lazyPart } from "../lib/lazy-part.ts";
import { useStore, type Store } from "../lib/store.ts";
import { Markdown } from "../text/markdown.tsx";
import { useWords } from "../words/words.ts";
import { Reasoning } from "./message-view.tsx";

const RetryLine = lazyPart(() => import("./retry-line.tsx"));

type LiveViewProps = { readonly live: Store<LiveAnswer | null>; readonly state: ConversationView };

/** The live state: the streamed answer, a wait for the model, or that the agent works. None of it is stored yet. */
export function LiveView({ live, state }: LiveViewProps) {
  const answer = useStore(live);
  const words = useWords().live;
  if (state.status !== "running") return <div className="h-3" />;
  return (
    <div className="pt-1 pb-3">
      {answer !== null && <Streamed answer={answer} />}
      {state.retry === null ? (
        <p className="flex items-center gap-2 py-1 pl-1.5 text-sm text-faint">
          {/* A growing answer is movement enough. */}
          <span className={`size-1.5 rounded-full bg-accent ${answer === null ? "animate-pulse" : ""}`} />
          {answer === null ? words.working : words.writing}
        </p>
      ) : (
        <Suspense>
          <RetryLine retry={state.retry} />
        </Suspense>
      )}
    </div>
  );
}

function Streamed({ answer }: { readonly answer: LiveAnswer }) {
  const words = useWords().live;
  const itemsOf = (wanted: LiveItem["type"]): readonly LiveItem[] =>
    answer.items.filter(({ type }) => type === wanted);
  const textOf = (type: LiveItem["type"]): string =>
    itemsOf(type)
      .map((item) => item.text)
      .join("");
  const reasoning = textOf("reasoning");
  const text = textOf("text");
  return (
    <>
      {reasoning !== "" && <Reasoning text={reasoning} />}
      {answer.hasGap && <p className="text-xs text-faint">{words.gap}</p>}
      {text !== "" && (
        <div className="py-1">
          <Markdown text={text} />
        </div>
      )}
      {itemsOf("tool_call").map((call) => (
        <p key={call.index} className="truncate py-1 pl-1.5 text-sm text-faint">
          {call.name} <span className="font-mono text-xs">{call.text.slice(-120)}</span>
        </p>
      ))}
    </>
  );
}
