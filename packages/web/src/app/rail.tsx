import { Archive, CalendarClock, Inbox, PanelLeft, Plus, Search, Settings } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Link, useRoute } from "wouter";
import { ConversationList } from "../overview/conversation-list.tsx";
import { useServices } from "../services/services.ts";
import { IconButton } from "../ui/button.tsx";
import { useWords } from "../words/words.ts";
import { Count } from "./count.tsx";

/** The sidebar: navigation and the list of conversations. */
export default function Rail({ waiting, onHide }: { readonly waiting: number; readonly onHide: () => void }) {
  const words = useWords();
  const { overview, language } = useServices();
  const [filter, setFilter] = useState("");
  return (
    <nav
      aria-label={words.rail.conversations}
      className="flex w-64 shrink-0 flex-col border-r border-line bg-rail max-[720px]:hidden"
    >
      <div className="flex h-11 shrink-0 items-center gap-1 pr-1.5 pl-3">
        <Link href="/" className="grow font-semibold tracking-tight">
          {words.appName}
        </Link>
        <IconButton label={words.rail.hide} onClick={onHide}>
          <PanelLeft size={16} />
        </IconButton>
      </div>
      <div className="flex flex-col px-1.5 pb-1.5">
        <RailLink href="/" icon={<Plus size={15} />} label={words.rail.newConversation} />
        <RailLink href="/inbox" icon={<Inbox size={15} />} label={words.rail.inbox} count={waiting} />
        <RailLink href="/search" icon={<Search size={15} />} label={words.rail.search} />
        <RailLink href="/automations" icon={<CalendarClock size={15} />} label={words.rail.automations} />
        <RailLink href="/settings" icon={<Settings size={15} />} label={words.rail.settings} />
      </div>
      <label className="mx-3 mb-1.5 flex h-7 items-center gap-2 rounded-md border border-line bg-canvas px-2 text-faint focus-within:border-accent">
        <Search size={13} aria-hidden="true" />
        <input
          type="search"
          aria-label={words.rail.filter}
          placeholder={words.rail.filter}
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          className="w-full bg-transparent text-sm text-ink outline-none placeholder:text-faint"
        />
      </label>
      <div className="min-h-0 grow overflow-y-auto">
        <ConversationList overview={overview} language={language} filter={filter} />
      </div>
      <div className="border-t border-line px-1.5 py-1">
        <RailLink href="/archived" icon={<Archive size={15} />} label={words.rail.archived} />
      </div>
    </nav>
  );
}

type RailLinkProps = {
  readonly href: string;
  readonly icon: ReactNode;
  readonly label: string;
  readonly count?: number;
};

function RailLink({ href, icon, label, count = 0 }: RailLinkProps) {
  const [isHere] = useRoute(href);
  return (
    <Link
      href={href}
      aria-current={isHere ? "page" : undefined}
      className="flex h-7 items-center gap-2 rounded-md px-1.5 text-soft hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:text-ink"
    >
      {icon}
      <span className="grow">{label}</span>
      {count > 0 && <Count count={count} />}
    </Link>
  );
}
