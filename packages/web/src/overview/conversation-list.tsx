import { memo, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Link, useRoute, useSearch } from "wouter";
import { baseName, shownCost } from "@convoke/client/view";
import { besideIn, idOf } from "../lib/beside.ts";
import { lazyPart } from "../lib/lazy-part.ts";
import { watchNearness } from "../lib/near-screen.ts";
import { shownTime } from "../lib/shown-times.ts";
import { useStore, type Store } from "../lib/store.ts";
import { StateMark } from "../ui/state-mark.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import type { Summary } from "./summary.ts";
import { beginningOf, sectionsOf } from "./list-sections.ts";
import type { Overview } from "./overview-store.ts";

const BesideButton = lazyPart(() => import("./beside-button.tsx"));

/** Conversations rendered at first, and added each time the end of the list comes near. */
const step = 50;

type ConversationListProps = {
  readonly overview: Store<Overview>;
  readonly language: string;
  /** Filter: words that a title must contain. */
  readonly filter: string;
};

/** The conversations: first those that need approval, then those that run, then the others by day. */
export function ConversationList({ overview, language, filter }: ConversationListProps) {
  const { summaries, phase } = useStore(overview);
  const words = useWords().rail;
  const [, open] = useRoute<{ id: string }>("/c/:id");
  const beside = besideIn(useSearch(), null).map(idOf);
  const sections = useMemo(() => sectionsOf(summaries, filter, new Date()), [summaries, filter]);
  const [limit, setLimit] = useState(step);
  const drawn = useMemo(() => beginningOf(sections, limit), [sections, limit]);
  const count = sections.reduce((sum, { summaries: members }) => sum + members.length, 0);
  const drawMore = useCallback(() => setLimit((before) => before + step), []);
  if (phase === "failed" && summaries.length === 0) return <ListNote what="failed" />;
  if (phase === "ready" && sections.length === 0)
    return <ListNote what={filter === "" ? "none" : "noneFound"} />;
  const groups = drawn.map(({ name, summaries: members }) => (
    // `isolate` makes a stacking context, so that the browser reuses the painted section when another part of the page
    // changes.
    <div key={name} role="group" aria-label={words.sections[name]} className="isolate pb-2">
      <h2 className="px-3 pt-1.5 pb-1 text-xs text-faint">{words.sections[name]}</h2>
      <ul>
        {members.map((summary) => (
          <ConversationEntry
            key={summary.id}
            summary={summary}
            isOpen={open?.id === summary.id || (open !== null && beside.includes(summary.id))}
            language={language}
          />
        ))}
      </ul>
    </div>
  ));
  return (
    <>
      {groups}
      {count > limit && <EndOfDrawn key={limit} onNear={drawMore} />}
    </>
  );
}

/** Shown instead of the list: why it is empty or missing. */
function ListNote({ what }: { readonly what: "failed" | "none" | "noneFound" }) {
  return (
    <p className={`px-3 py-2 text-sm ${what === "failed" ? "text-bad" : "text-faint"}`}>
      <Suspense>
        <MoreWord what={what} />
      </Suspense>
    </p>
  );
}

function MoreWord({ what }: { readonly what: "failed" | "none" | "noneFound" }) {
  return useMoreWords().list[what];
}

/** Rendered after the last row; calls back when it comes near the screen. */
function EndOfDrawn({ onNear }: { readonly onNear: () => void }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    return element === null ? undefined : watchNearness(element, (isNear) => isNear && onNear());
  }, [onNear]);
  return <div ref={place} className="h-px" />;
}

type ConversationEntryProps = {
  readonly summary: Summary;
  readonly isOpen: boolean;
  readonly language: string;
};

const ConversationEntry = memo(function ConversationEntry({
  summary,
  isOpen,
  language,
}: ConversationEntryProps) {
  const words = useWords().rail;
  const { id, title, status, updatedAt, workingDir, cost } = summary;
  const isNew = summary.isUnread && !isOpen;
  return (
    <li className="group/entry relative">
      <Link
        href={`/c/${id}`}
        aria-current={isOpen ? "page" : undefined}
        className="mx-1.5 flex gap-2 rounded-md px-1.5 py-1 hover:bg-hover aria-[current=page]:bg-hover pointer-coarse:py-2"
      >
        <span className="mt-[3px]">
          <StateMark status={status} size={13} />
        </span>
        <span className="min-w-0 grow">
          <span className="flex items-baseline gap-2">
            <span className={`min-w-0 grow truncate ${isNew ? "font-semibold" : ""}`}>
              {title ?? words.untitled}
            </span>
            {isNew && (
              <span
                role="img"
                aria-label={words.unread}
                className="size-2 shrink-0 self-center rounded-full bg-accent-fill"
              />
            )}
            <time dateTime={updatedAt} className="shrink-0 text-xs text-faint tabular-nums">
              {shownTime(updatedAt, language, new Date())}
            </time>
          </span>
          <span className="flex gap-2 text-xs text-faint">
            <span className="min-w-0 grow truncate">{workingDir === null ? "" : baseName(workingDir)}</span>
            {cost > 0 && <span className="shrink-0 tabular-nums">{shownCost(cost)}</span>}
          </span>
        </span>
      </Link>
      <Suspense>{!isOpen && <BesideButton id={id} title={title ?? words.untitled} />}</Suspense>
    </li>
  );
});
