import { useEffect, useState } from "react";
import type { LogState } from "../folds/fold-state.ts";
import type { LiveAnswer } from "../folds/live-answer.ts";
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
  return (
    <>
      {answer.reasoning !== "" && <Reasoning text={answer.reasoning} />}
      {answer.hasGap && <p className="text-xs text-faint">{words.gap}</p>}
      {answer.text !== "" && (
        <div className="py-1">
          <Markdown text={answer.text} />
        </div>
      )}
      {answer.calls.map(({ index, name, argumentsText }) => (
        <p key={index} className="truncate py-1 pl-1.5 text-sm text-faint">
          {name} <span className="font-mono text-xs">{argumentsText.slice(-120)}</span>
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
