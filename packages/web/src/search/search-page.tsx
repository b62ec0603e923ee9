import type { SearchHit, SnippetPart } from "@convoke/protocol";
import { Search } from "lucide-react";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { Link, useLocation, useSearch as useAddress } from "wouter";
import { shownTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import {
  addressOf,
  byConversation,
  dayChoices,
  placeOf,
  parseQuery,
  whats,
  type SearchQuery,
} from "./search-query.ts";
import { useSearch } from "./use-search.ts";

/** Search over all conversations; each result opens its conversation at that event. */
export default function SearchPage() {
  const words = useMoreWords().search;
  const { rail } = useWords();
  const [, navigate] = useLocation();
  const address = useAddress();
  const query = useMemo(() => parseQuery(address), [address]);
  const [typed, setTyped] = useState(query.q);
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const { results, problem, isBusy, more } = useSearch(query);
  useEffect(() => field.current?.focus(), []);
  const go = (next: SearchQuery): void => navigate(addressOf(next), { replace: true });

  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || event.altKey) return;
    const links = [...(list.current?.querySelectorAll<HTMLElement>("a[href]") ?? [])];
    const at = links.findIndex((link) => link === document.activeElement) + step;
    event.preventDefault();
    (at < 0 ? field.current : links[Math.min(at, links.length - 1)])?.focus();
  };
  const isNothing = results !== null && results.hits.length + results.titles.length === 0;
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-[52rem] px-5 py-5 max-[720px]:px-3">
        <h1 className="sr-only">{words.title}</h1>
        <label className="flex h-10 items-center gap-2.5 rounded-lg border border-line bg-canvas px-3 text-faint focus-within:border-accent pointer-coarse:h-11">
          <Search size={16} aria-hidden="true" />
          <input
            ref={field}
            type="search"
            aria-label={words.title}
            placeholder={words.placeholder}
            value={typed}
            maxLength={400}
            spellCheck={false}
            onKeyDown={onKeyDown}
            onChange={(event) => {
              setTyped(event.target.value);
              go({ ...query, q: event.target.value });
            }}
            className="w-full bg-transparent text-ink outline-none placeholder:text-faint pointer-coarse:text-[16px]"
          />
        </label>
        <div className="mt-2.5 flex flex-wrap gap-x-4 gap-y-1.5">
          <Chips
            label={words.what}
            choices={whats}
            chosen={query.what}
            nameOf={(what) => words.whats[what]}
            onChoose={(what) => go({ ...query, what })}
          />
          <Chips
            label={words.when}
            choices={dayChoices}
            chosen={query.days}
            nameOf={words.days}
            onChoose={(days) => go({ ...query, days })}
          />
        </div>
        <Problem className="mt-3" text={problem} />
        <p role="status" className="mt-3 text-sm text-faint">
          {isNothing && words.none}
          {results?.progress != null && ` ${words.reading(Math.floor(results.progress * 100))}`}
        </p>
        <div ref={list} aria-busy={isBusy}>
          {results !== null && results.titles.length > 0 && (
            <section aria-label={words.titles} className="mt-2">
              <h2 className="text-sm text-faint">{words.titles}</h2>
              <ul>
                {results.titles.map(({ conversation_id: id, snippet }) => (
                  <li key={id}>
                    <Link
                      href={`/c/${id}`}
                      onKeyDown={onKeyDown}
                      className={`${lineClass} block truncate font-medium`}
                    >
                      <Marked parts={snippet} />
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          )}
          {byConversation(results?.hits ?? []).map((hits) => (
            <section key={hits[0]!.conversation_id} className="mt-4">
              <h2 className="truncate border-b border-line pb-1 font-medium">
                {hits[0]!.title ?? rail.untitled}
              </h2>
              <ul>
                {hits.map((hit) => (
                  <li key={hit.event_id}>
                    <Hit hit={hit} q={query.q} onKeyDown={onKeyDown} />
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </div>
        {results?.nextPageId != null && (
          <Button className="mt-4" disabled={isBusy} onClick={more}>
            {words.more}
          </Button>
        )}
      </div>
    </div>
  );
}

type HitProps = {
  readonly hit: SearchHit;
  readonly q: string;
  readonly onKeyDown: (event: KeyboardEvent) => void;
};

function Hit({ hit, q, onKeyDown }: HitProps) {
  const words = useMoreWords().search;
  const { language } = useServices();
  const who = hit.kind === "MessageEvent" ? (hit.source === "user" ? words.you : words.agent) : null;
  return (
    <Link href={placeOf(hit, q)} onKeyDown={onKeyDown} className={`${lineClass} block`}>
      <span className="flex gap-2 text-xs text-faint">
        <span className="grow truncate">{who ?? hit.tool_name ?? hit.kind}</span>
        <time dateTime={hit.timestamp} className="shrink-0 tabular-nums">
          {shownTime(hit.timestamp, language, new Date())}
        </time>
      </span>
      <span className={`line-clamp-3 text-sm break-words ${who === null ? "font-mono text-xs" : ""}`}>
        <Marked parts={hit.snippet} />
      </span>
    </Link>
  );
}

/** The text around a match, with the match marked. */
function Marked({ parts }: { readonly parts: readonly SnippetPart[] }) {
  let at = 0;
  return parts.map(({ text, is_match: isMatch }) => {
    at += text.length;
    return isMatch ? (
      <mark key={at} className="rounded-sm bg-warn-wash text-ink">
        {text}
      </mark>
    ) : (
      <span key={at}>{text}</span>
    );
  });
}

type ChipsProps<Choice> = {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly chosen: Choice;
  readonly nameOf: (choice: Choice) => string;
  readonly onChoose: (choice: Choice) => void;
};

function Chips<Choice extends string | number>(props: ChipsProps<Choice>) {
  const { label, choices, chosen, nameOf, onChoose } = props;
  return (
    <div role="group" aria-label={label} className="flex flex-wrap gap-1.5">
      {choices.map((choice) => (
        <button
          key={choice}
          type="button"
          aria-pressed={choice === chosen}
          onClick={() => onChoose(choice)}
          className="h-7 rounded-full border border-line px-2.5 text-xs text-soft hover:bg-hover aria-pressed:border-accent aria-pressed:text-ink pointer-coarse:h-11 pointer-coarse:px-4"
        >
          {nameOf(choice)}
        </button>
      ))}
    </div>
  );
}

const lineClass = "-mx-2 rounded-md px-2 py-1.5 hover:bg-hover pointer-coarse:min-h-11";
