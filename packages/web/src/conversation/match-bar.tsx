import type { SearchPage } from "@convoke/protocol";
import { ChevronDown, ChevronUp, X } from "lucide-react";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { useServices } from "../services/services.ts";
import { IconButton } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";

type MatchBarProps = {
  readonly id: string;
  /** The shown event. */
  readonly at: string;
  readonly q: string;
  readonly onNow: () => void;
};

/** Maximum number of matches in one conversation. */
const maxPages = 4;

/** The matches of a search in this conversation: n goes to the next, older one, p back. */
export function MatchBar({ id, at, q, onNow }: MatchBarProps) {
  const words = useMoreWords().search;
  const { close } = useWords().common;
  const { storage } = useServices();
  const [, navigate] = useLocation();
  const { ids, hasMore } = useMatches(id, q);
  const place = ids.indexOf(at);
  const [next, previous] = place < 0 ? [ids[0], undefined] : [ids[place + 1], ids[place - 1]];
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isBusy(event.target)) return;
      if (storage.read("keys") === false || (event.key !== "n" && event.key !== "p")) return;
      // Outside of a search n starts a conversation.
      event.preventDefault();
      const to = event.key === "n" ? next : previous;
      if (to !== undefined) navigate(placeOf(id, to, q));
    };
    addEventListener("keydown", onKeyDown, { capture: true });
    return () => removeEventListener("keydown", onKeyDown, { capture: true });
  }, [id, q, storage, navigate, next, previous]);
  const go = (to: string | undefined): void => {
    if (to !== undefined) navigate(placeOf(id, to, q));
  };
  return (
    <div
      role="group"
      aria-label={words.matches}
      className="flex h-9 shrink-0 items-center gap-1.5 border-b border-line pr-1.5 pl-3 text-sm"
    >
      <span className="truncate font-mono text-xs">{q}</span>
      <span role="status" className="grow truncate text-xs text-faint">
        {words.match(place + 1, `${ids.length}${hasMore ? "+" : ""}`)}
      </span>
      <IconButton label={words.previous} disabled={previous === undefined} onClick={() => go(previous)}>
        <ChevronDown size={15} />
      </IconButton>
      <IconButton label={words.next} disabled={next === undefined} onClick={() => go(next)}>
        <ChevronUp size={15} />
      </IconButton>
      <IconButton label={close} onClick={onNow}>
        <X size={15} />
      </IconButton>
    </div>
  );
}

function placeOf(id: string, eventId: string, q: string): string {
  return `/c/${id}?${new URLSearchParams({ event: eventId, q }).toString()}`;
}

function isBusy(target: EventTarget | null): boolean {
  const isWriting =
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
  return isWriting || document.querySelector("dialog[open]") !== null;
}

/** The ids of the events that match, the newest first. */
function useMatches(id: string, q: string): { readonly ids: readonly string[]; readonly hasMore: boolean } {
  const { client } = useServices();
  const [found, setFound] = useState<{ readonly ids: readonly string[]; readonly hasMore: boolean }>({
    ids: [],
    hasMore: false,
  });
  useEffect(() => {
    const stop = new AbortController();
    const read = async (): Promise<void> => {
      const ids: string[] = [];
      let pageId: string | null = null;
      for (let page = 0; page < maxPages; page += 1) {
        const query = { q, conversation_id: id, limit: 50, page_id: pageId };
        const reply: SearchPage = await client.call("GET /api/search", { query, signal: stop.signal });
        ids.push(...reply.items.map((item) => item.event_id));
        pageId = reply.next_page_id ?? null;
        setFound({ ids: [...ids], hasMore: pageId !== null });
        if (pageId === null) return;
      }
    };
    read().catch((error: unknown) => {
      if (!stop.signal.aborted) console.warn("The matches could not be read.", error);
    });
    return () => stop.abort();
  }, [client, id, q]);
  return found;
}
