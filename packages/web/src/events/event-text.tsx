import { ChevronLeft, Link2 } from "lucide-react";
import { useEffect, useState } from "react";
import { copyText } from "../lib/copy-text.ts";
import { linkTo } from "../lib/link-to.ts";
import { useServices } from "../services/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords } from "../words/words.ts";

type EventTextProps = {
  readonly conversationId: string;
  readonly eventId: string;
  readonly onBack: () => void;
  readonly onGo: (eventId: string) => void;
};

/** One event: formatted, or as raw JSON. */
export function EventText({ conversationId, eventId, onBack, onGo }: EventTextProps) {
  const { events: words, message } = useMoreWords();
  const { stored, problem } = useStored(conversationId, eventId);
  const [isRaw, setIsRaw] = useState(false);
  const text = stored === null || isRaw ? (stored ?? "") : laidOut(stored);
  return (
    <>
      <div className="flex shrink-0 items-center gap-1 px-1.5 pt-1.5 text-xs text-faint">
        <IconButton label={words.back} size="small" onClick={onBack}>
          <ChevronLeft size={13} />
        </IconButton>
        <span className="min-w-0 grow truncate font-mono">{eventId}</span>
        <IconButton label={message.copyLink} size="small" onClick={() => void copyText(linkTo(eventId))}>
          <Link2 size={13} />
        </IconButton>
        <CopyButton text={text} />
      </div>
      <div className="flex shrink-0 flex-wrap gap-2 p-1.5">
        <Button aria-pressed={isRaw} onClick={() => setIsRaw(!isRaw)}>
          {words.raw}
        </Button>
        <Button onClick={() => onGo(eventId)}>{words.go}</Button>
      </div>
      <Problem className="m-1.5" text={problem} />
      <pre
        tabIndex={0}
        aria-label={words.text}
        aria-busy={stored === null && problem === null}
        className="m-1.5 min-h-0 grow overflow-auto rounded bg-sunken p-3 font-mono text-xs break-words whitespace-pre-wrap"
      >
        {text}
      </pre>
    </>
  );
}

function laidOut(stored: string): string {
  return JSON.stringify(JSON.parse(stored), null, 2);
}

/** Loads the JSON of an event; null until it has arrived. */
function useStored(conversationId: string, eventId: string) {
  const { client } = useServices();
  const [stored, setStored] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    setStored(null);
    setProblem(null);
    client
      .open("GET /api/conversations/{conversation_id}/events/{event_id}", {
        params: { conversation_id: conversationId, event_id: eventId },
        signal: stop.signal,
      })
      .then((reply) => reply.text())
      .then(setStored)
      .catch((error: unknown) => {
        if (!stop.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
      });
    return () => stop.abort();
  }, [client, conversationId, eventId]);
  return { stored, problem };
}
