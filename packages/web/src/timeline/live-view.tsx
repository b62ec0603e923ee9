import type { LiveAnswer, LiveItem } from "@convoke/client";
import { useEffect, useState } from "react";
import type { LogState } from "../folds/fold-state.ts";
import { useStore, type Store } from "../lib/store.ts";
import { Markdown } from "../text/markdown.tsx";
import { useWords } from "../words/words.ts";
import { Reasoning } from "./message-view.tsx";

type LiveViewProps = { readonly live: Store<LiveAnswer | null>; readonly state: LogState };

/** What is going on now: the answer as it comes, a wait for the model, or that the agent works. Nothing of it is stored yet. */
export function LiveView({ live, state }: LiveViewProps) {
  const answer = useStore(live);
  const words = useWords().live;
  if (state.status !== "running") return <div className="h-3" />;
  return (
    <div className="pt-1 pb-3">
      {answer !== null && <Streamed answer={answer} />}
      {state.retry === null ? (
        <p className="flex items-center gap-2 py-1 pl-1.5 text-sm text-faint">
          {/* An answer that grows is movement enough. */}
          <span className={`size-1.5 rounded-full bg-accent ${answer === null ? "animate-pulse" : ""}`} />
          {answer === null ? words.working : words.writing}
        </p>
      ) : (
        <RetryLine until={state.retry.until} attempt={state.retry.attempt} code={state.retry.code} />
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

type RetryLineProps = { readonly until: string; readonly attempt: number; readonly code: string };

function RetryLine({ until, attempt, code }: RetryLineProps) {
  const words = useWords().live;
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((Date.parse(until) - now) / 1_000));
  if (code === "MCPServersStarting")
    return <p className="py-1 pl-1.5 text-sm text-faint">{words.servers(seconds)}</p>;
  return (
    <p className="py-1 pl-1.5 text-sm text-warn">
      {words.retry(attempt, seconds)} <span className="font-mono text-xs">{code}</span>
    </p>
  );
}
