import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { useLocation, useSearch } from "wouter";
import { conversationIn, toBeside } from "../lib/beside.ts";
import { conversationAddress } from "../lib/conversation-address.ts";
import { useStore } from "../lib/store.ts";
import { useServices } from "../services/services.ts";
import { visibleText } from "../text/visible-text.ts";
import { Dialog } from "../ui/dialog.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { matchingEntries, type PaletteEntry } from "./palette-entries.ts";

/** The command palette: conversations, panels of the shown one, screens, settings. */
export default function Palette({ onClose }: { readonly onClose: () => void }) {
  const words = useMoreWords().palette;
  const entries = useEntries();
  const [query, setQuery] = useState("");
  const [active, setActive] = useState(0);
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const [path, navigate] = useLocation();
  const search = useSearch();
  const found = useMemo(() => matchingEntries(entries, query), [entries, query]);
  const at = Math.min(active, found.length - 1);
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const go = (entry: PaletteEntry | undefined, isBeside: boolean): void => {
    if (entry === undefined) return;
    const { conversationId: id, href } = entry;
    onClose();
    navigate(isBeside && id !== null ? toBeside({ path, search, width: innerWidth }, id) : href);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") go(found[at], event.shiftKey);
    else if (step !== undefined) setActive((at + step + found.length) % Math.max(1, found.length));
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={words.title} onClose={onClose} width="w-[34rem]">
      <input
        // The dialog gives the focus to what has this attribute.
        ref={(field) => field?.setAttribute("autofocus", "")}
        role="combobox"
        aria-expanded={found.length > 0}
        aria-controls={listId}
        aria-activedescendant={found.length > 0 ? `${listId}-${at}` : undefined}
        aria-label={words.title}
        placeholder={words.placeholder}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
        className="h-9 w-full rounded-md border border-edge bg-canvas px-2.5 outline-none focus:border-accent pointer-coarse:h-11 pointer-coarse:text-[16px]"
      />
      <div
        ref={list}
        id={listId}
        role="listbox"
        aria-label={words.title}
        className="mt-2 max-h-[50dvh] overflow-y-auto"
      >
        {found.map((entry, index) => (
          // The text field handles its keys and keeps the focus.
          // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
          <div
            key={entry.href}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === at}
            onMouseDown={(event) => event.preventDefault()}
            onClick={(event) => go(entry, event.shiftKey)}
            className="flex cursor-pointer items-center gap-3 rounded px-2 py-1 text-sm hover:bg-hover aria-selected:bg-hover pointer-coarse:min-h-11"
          >
            <span className="min-w-0 grow truncate">{visibleText(entry.name)}</span>
            <span className="shrink-0 text-xs text-faint">{entry.kind}</span>
          </div>
        ))}
      </div>
      <p role="status" className="mt-2 text-xs text-faint">
        {found.length === 0 ? words.none : words.hint}
      </p>
    </Dialog>
  );
}

function useEntries(): readonly PaletteEntry[] {
  const { palette, settings, outline, events, browser, past } = useMoreWords();
  const { rail, conversation } = useWords();
  const { summaries } = useStore(useServices().overview);
  const [path] = useLocation();
  const search = useSearch();
  const open = conversationIn(path);
  return useMemo(() => {
    const entry = (href: string, name: string, kind: string, conversationId: string | null = null) => ({
      href,
      name,
      kind,
      conversationId,
    });
    const beside = { outline: outline.title, events: events.title, browser: browser.title };
    const panels = Object.entries({ changes: conversation.changes, files: conversation.files, ...beside });
    return [
      ...summaries.map(({ id, title }) =>
        entry(`/c/${id}`, title ?? rail.untitled, palette.conversation, id),
      ),
      ...(open === null
        ? []
        : [
            ...panels.map(([panel, name]) =>
              entry(conversationAddress(open, search, { panel, of: null, path: null }), name, palette.beside),
            ),
            entry(
              conversationAddress(open, search, { at: "", event: null, q: null }),
              past.title,
              palette.beside,
            ),
          ]),
      entry("/", rail.newConversation, palette.screen),
      entry("/inbox", rail.inbox, palette.screen),
      entry("/search", rail.search, palette.screen),
      entry("/archived", rail.archived, palette.screen),
      entry("/automations", rail.automations, palette.screen),
      entry("/settings", rail.settings, palette.screen),
      ...Object.entries(settings.sections).map(([section, name]) =>
        entry(`/settings/${section}`, name, rail.settings),
      ),
    ];
  }, [summaries, open, search, palette, settings, outline, events, browser, past, rail, conversation]);
}
