import { Inbox, MessageSquare, Plus, Settings } from "lucide-react";
import { Link, useLocation } from "wouter";
import { useWords } from "../words/words.ts";
import { Count } from "./count.tsx";

/** The navigation tabs on phones. Hidden while a conversation is open. */
export default function Tabs({ waiting }: { readonly waiting: number }) {
  const words = useWords();
  const [location] = useLocation();
  if (location.startsWith("/c/")) return null;
  const tabs = [
    { href: "/inbox", icon: <Inbox size={20} />, label: words.rail.inbox, count: waiting },
    { href: "/conversations", icon: <MessageSquare size={20} />, label: words.rail.conversations, count: 0 },
    { href: "/", icon: <Plus size={20} />, label: words.rail.new, count: 0 },
    { href: "/settings", icon: <Settings size={20} />, label: words.rail.settings, count: 0 },
  ];
  return (
    <nav
      aria-label={words.rail.tabs}
      className="hidden shrink-0 border-t border-line bg-rail pb-[env(safe-area-inset-bottom)] max-[720px]:flex"
    >
      {tabs.map(({ href, icon, label, count }) => (
        <Link
          key={href}
          href={href}
          aria-current={location === href ? "page" : undefined}
          className="relative flex h-14 grow basis-0 flex-col items-center justify-center gap-0.5 text-xs text-faint aria-[current=page]:text-accent"
        >
          {icon}
          {label}
          {count > 0 && (
            <span className="absolute top-1 left-1/2 ml-2">
              <Count count={count} />
            </span>
          )}
        </Link>
      ))}
    </nav>
  );
}
