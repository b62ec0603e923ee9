import { ChevronRight } from "lucide-react";
import { useState, type ReactNode } from "react";
import { shownCount } from "@convoke/client/view";
import { visibleText } from "../text/visible-text.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";
import type { ShownMessage } from "./shown-message.ts";

/** Maximum characters of a message before "show all". */
const fewCharacters = 600;

type MessagePartProps = {
  readonly message: ShownMessage;
  readonly onGo: (eventId: string) => void;
};

/** One message of a request; the system prompt is collapsed, long messages are cut. */
export function MessagePart({ message, onGo }: MessagePartProps) {
  const words = useMoreWords().context;
  const { role, tool, tokens, text, pictures, eventIds } = message;
  const name = words.roles[role as keyof typeof words.roles] ?? role;
  const title = tool === "" ? name : `${name} ${tool}`;
  const note = words.tokens(shownCount(tokens));
  const body = (
    <>
      <MessageText text={text} />
      {pictures > 0 && <p className="px-3 pb-1 text-xs text-faint">{words.pictures(pictures)}</p>}
      <EventLinks eventIds={eventIds} onGo={onGo} />
    </>
  );
  if (role === "system")
    return (
      <FoldedPart title={title} note={note}>
        {body}
      </FoldedPart>
    );
  return (
    <>
      <p className="flex gap-2 px-3 pt-1.5 text-xs">
        <span className="grow truncate font-medium">{title}</span>
        <span className="shrink-0 text-faint tabular-nums">{note}</span>
      </p>
      {body}
    </>
  );
}

function MessageText({ text }: { readonly text: string }) {
  const words = useMoreWords().context;
  const [isWhole, setIsWhole] = useState(false);
  const isCut = !isWhole && text.length > fewCharacters;
  return (
    <>
      <p className="px-3 py-1 font-mono text-xs break-words whitespace-pre-wrap">
        {visibleText(isCut ? `${text.slice(0, fewCharacters)}…` : text)}
      </p>
      {isCut && (
        <Button variant="quiet" className="mx-1" onClick={() => setIsWhole(true)}>
          {words.all(shownCount(text.length))}
        </Button>
      )}
    </>
  );
}

/** Links to the events that a message was built from. */
function EventLinks({
  eventIds,
  onGo,
}: Pick<MessagePartProps, "onGo"> & { readonly eventIds: readonly string[] }) {
  const words = useMoreWords().context;
  if (eventIds.length === 0) return null;
  return (
    <p className="flex flex-wrap px-0.5 pb-1">
      {eventIds.map((id, index) => (
        <Button key={id} variant="quiet" title={id} onClick={() => onGo(id)}>
          {eventIds.length === 1 ? words.event : words.eventOf(index + 1)}
        </Button>
      ))}
    </p>
  );
}

type FoldedPartProps = { readonly title: string; readonly note: string; readonly children: ReactNode };

/** A collapsible section; its content is rendered when it opens. */
export function FoldedPart({ title, note, children }: FoldedPartProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
        className="flex w-full items-center gap-1.5 px-3 py-1.5 text-left text-xs hover:bg-hover pointer-coarse:min-h-11"
      >
        <ChevronRight
          size={13}
          className={`shrink-0 text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
        />
        <span className="grow truncate font-medium">{title}</span>
        <span className="shrink-0 text-faint tabular-nums">{note}</span>
      </button>
      {isOpen && children}
    </>
  );
}
