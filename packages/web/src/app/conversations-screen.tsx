import { Link } from "wouter";
import { ConversationList } from "../overview/conversation-list.tsx";
import { useServices } from "../services/services.ts";
import { useWords } from "../words/words.ts";

/** The list as a screen of its own, for phones. */
export default function ConversationsScreen() {
  const words = useWords();
  const { overview, language } = useServices();
  return (
    <div className="h-full overflow-y-auto px-1 py-4">
      <h1 className="mb-3 px-3 text-xl font-semibold">{words.rail.conversations}</h1>
      <Link href="/search" className="block px-3 py-2.5 text-soft underline-offset-2 hover:underline">
        {words.rail.search}
      </Link>
      <Link href="/automations" className="block px-3 py-2.5 text-soft underline-offset-2 hover:underline">
        {words.rail.automations}
      </Link>
      <ConversationList overview={overview} language={language} filter="" />
      <Link href="/archived" className="block px-3 py-2.5 text-soft underline-offset-2 hover:underline">
        {words.rail.archived}
      </Link>
    </div>
  );
}
