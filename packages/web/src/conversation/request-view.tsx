import type { ContextShare, EventContext } from "@convoke/protocol";
import { shownCost, shownCount } from "@convoke/client/view";
import { useMoreWords } from "../words/words.ts";
import { largestEvents, type LargeEvent } from "./largest-events.ts";
import { FoldedPart, MessagePart } from "./message-part.tsx";
import { shownMessage, shownTool } from "./shown-message.ts";

type RequestViewProps = {
  readonly context: EventContext;
  readonly onGo: (eventId: string) => void;
};

/** A model request: its size and largest parts, then its tools and messages in order. */
export function RequestView({ context, onGo }: RequestViewProps) {
  const words = useMoreWords().context;
  const messages = context.messages.map(shownMessage);
  const tools = context.tools.map(shownTool);
  return (
    <>
      <Numbers context={context} />
      <Shares shares={context.shares} />
      <Largest events={largestEvents(messages)} onGo={onGo} />
      <p className={`px-3 pb-3 text-xs ${context.is_exact ? "text-good" : "text-faint"}`}>
        {context.is_exact ? words.exact : words.inexact}
      </p>
      <ol aria-label={words.messages} className="border-t border-line">
        {messages.map((message, index) => (
          // A request never changes: the index is a stable key.
          // eslint-disable-next-line react/no-array-index-key
          <li key={index} className="border-b border-line">
            <MessagePart message={message} onGo={onGo} />
          </li>
        ))}
      </ol>
      {tools.length > 0 && (
        <FoldedPart title={words.tools(tools.length)} note="">
          <dl className="px-3 pb-2 text-xs">
            {tools.map(({ name, text }) => (
              <div key={name} className="py-1">
                <dt className="font-mono">{name}</dt>
                <dd className="break-words whitespace-pre-wrap text-soft">{text}</dd>
              </div>
            ))}
          </dl>
        </FoldedPart>
      )}
    </>
  );
}

function Numbers({ context }: { readonly context: EventContext }) {
  const words = useMoreWords().context;
  const { context_window: window, cost, completion_tokens: written, cached_tokens: cached } = context;
  const facts: readonly (readonly [string, string | null])[] = [
    [words.model, context.model],
    [
      context.is_counted ? words.read : words.readAbout,
      window
        ? words.ofWindow(shownCount(context.tokens), shownCount(window), percent(context.tokens / window))
        : shownCount(context.tokens),
    ],
    [words.cached, cached ? shownCount(cached) : null],
    [words.written, written ? shownCount(written) : null],
    [words.cost, typeof cost === "number" ? shownCost(cost) : null],
  ];
  return (
    <dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-0.5 p-3 text-sm tabular-nums">
      {facts.map(
        ([name, value]) =>
          value !== null && (
            <div key={name} className="contents">
              <dt className="text-faint">{name}</dt>
              <dd className="min-w-0 truncate">{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

const colours: Readonly<Record<ContextShare["source"], string>> = {
  system_prompt: "bg-faint",
  tools: "bg-edge",
  user: "bg-accent",
  agent: "bg-good",
  tool_results: "bg-warn",
  summaries: "bg-bad",
  environment: "bg-soft",
};

function Shares({ shares }: { readonly shares: readonly ContextShare[] }) {
  const words = useMoreWords().context;
  const sorted = shares.toSorted((left, right) => right.share - left.share);
  return (
    <div className="px-3 pb-2">
      <div className="flex h-2 overflow-hidden rounded bg-sunken" aria-hidden="true">
        {sorted.map(({ source, share }) => (
          <svg key={source} className={`h-full ${colours[source]}`} width={percent(share, 2)} />
        ))}
      </div>
      <ul className="mt-1.5 flex flex-wrap gap-x-3 gap-y-0.5 text-xs">
        {sorted.map(({ source, share, tokens }) => (
          <li key={source} className="flex items-center gap-1.5 whitespace-nowrap">
            <span className={`size-2 rounded-sm ${colours[source]}`} aria-hidden="true" />
            {words.share(words.sources[source], shownCount(tokens), percent(share))}
          </li>
        ))}
      </ul>
    </div>
  );
}

type LargestProps = Pick<RequestViewProps, "onGo"> & { readonly events: readonly LargeEvent[] };

function Largest({ events, onGo }: LargestProps) {
  const words = useMoreWords().context;
  const nameOf = ({ role, tool }: LargeEvent): string =>
    `${words.roles[role as keyof typeof words.roles] ?? role} ${tool}`.trim();
  return (
    <FoldedPart title={words.largest} note="">
      <ol aria-label={words.largest} className="px-1.5 pb-2 text-xs">
        {events.map((event) => (
          <li key={event.eventId}>
            <button
              type="button"
              onClick={() => onGo(event.eventId)}
              className="flex w-full gap-2 rounded px-1.5 py-1 text-left hover:bg-hover pointer-coarse:min-h-11"
            >
              <span className="min-w-0 grow truncate">{nameOf(event)}</span>
              <span className="shrink-0 text-faint tabular-nums">
                {words.tokens(shownCount(event.tokens))}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </FoldedPart>
  );
}

function percent(share: number, digits = 0): string {
  return `${(share * 100).toFixed(digits)}%`;
}
