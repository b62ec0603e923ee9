import { Link2 } from "lucide-react";
import { useEffect, useState } from "react";
import { copyText } from "../lib/copy-text.ts";
import { linkTo } from "../lib/link-to.ts";
import { useServices } from "../services/services.ts";
import { IconButton } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useMoreWords } from "../words/words.ts";

type EventDialogProps = {
  readonly conversationId: string;
  readonly eventId: string;
  readonly onClose: () => void;
};

/** One event as it is stored. */
export default function EventDialog({ conversationId, eventId, onClose }: EventDialogProps) {
  const { event: words, message } = useMoreWords();
  const { copyLink } = message;
  const { client } = useServices();
  const [text, setText] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    client
      .call("GET /api/conversations/{conversation_id}/events/{event_id}", {
        params: { conversation_id: conversationId, event_id: eventId },
        signal: stop.signal,
      })
      .then((event) => setText(JSON.stringify(event, null, 2)))
      .catch((error: unknown) => {
        if (!stop.signal.aborted) setText(error instanceof Error ? error.message : words.failed);
      });
    return () => stop.abort();
  }, [client, conversationId, eventId, words]);
  return (
    <Dialog title={words.title} onClose={onClose} width="w-[52rem]">
      <div className="mb-1 flex items-center gap-2 text-xs text-faint">
        <span className="grow truncate font-mono">{eventId}</span>
        <IconButton label={copyLink} size="small" onClick={() => void copyText(linkTo(eventId))}>
          <Link2 size={13} />
        </IconButton>
        <CopyButton text={text} />
      </div>
      <pre
        tabIndex={0}
        className="max-h-[60dvh] overflow-auto rounded bg-sunken p-3 font-mono text-xs break-words whitespace-pre-wrap"
      >
        {text}
      </pre>
    </Dialog>
  );
}
