import { X } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { shownCount } from "../lib/shown-numbers.ts";
import { shownTime } from "../lib/shown-times.ts";
import { labelsOf } from "../lib/title-id.ts";
import { useServices } from "../services/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { EventFilter, everything, type EventChoice } from "./event-filter.tsx";
import { EventText } from "./event-text.tsx";
import { ReplaySeal } from "./replay-seal.tsx";
import { useEvents } from "./use-events.ts";

type EventsPanelProps = {
  readonly conversationId: string;
  /** The event whose text is shown; null for the list. */
  readonly eventId: string | null;
  /** Another value is a reason to look for newer ones. */
  readonly version: string | null;
  readonly onOpen: (eventId: string | null) => void;
  readonly onGo: (eventId: string) => void;
  readonly onClose: () => void;
};

/** The log itself: every event of the conversation, each as it is stored. */
export default function EventsPanel(props: EventsPanelProps) {
  const { conversationId, eventId, version, onOpen, onGo, onClose } = props;
  const words = useMoreWords().events;
  const { close } = useWords().common;
  const titleId = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  const [choice, setChoice] = useState(everything);
  useEffect(() => heading.current?.focus(), [eventId]);
  return (
    <section
      aria-labelledby={labelsOf(titleId, conversationId)}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
      className="flex w-[30rem] min-w-0 shrink-0 flex-col border-l border-line bg-canvas max-[1100px]:absolute max-[1100px]:inset-0 max-[1100px]:z-10 max-[1100px]:w-auto max-[1100px]:border-l-0 in-data-split:absolute in-data-split:inset-0 in-data-split:z-10 in-data-split:w-auto in-data-split:border-l-0"
    >
      <header className="flex h-11 shrink-0 items-center gap-2 border-b border-line pr-1.5 pl-3">
        <h2 id={titleId} ref={heading} tabIndex={-1} className="shrink-0 font-medium outline-none">
          {words.title}
        </h2>
        <span className="grow" />
        <IconButton label={close} onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      {eventId === null ? (
        <>
          <ReplaySeal conversationId={conversationId} onOpen={onOpen} />
          <EventFilter choice={choice} onChoose={setChoice} />
          <EventList conversationId={conversationId} choice={choice} version={version} onOpen={onOpen} />
        </>
      ) : (
        <EventText
          conversationId={conversationId}
          eventId={eventId}
          onBack={() => onOpen(null)}
          onGo={onGo}
        />
      )}
    </section>
  );
}

type EventListProps = Pick<EventsPanelProps, "conversationId" | "version" | "onOpen"> & {
  readonly choice: EventChoice;
};

function EventList({ conversationId, choice, version, onOpen }: EventListProps) {
  const words = useMoreWords().events;
  const { language } = useServices();
  const { page, problem, more } = useEvents({ conversationId, choice, version });
  return (
    <div className="min-h-0 grow overflow-y-auto p-1.5" aria-busy={page === null && problem === null}>
      {problem !== null && (
        <p role="alert" className="m-1.5 rounded-md bg-bad-wash px-3 py-1.5 text-sm text-bad">
          {problem}
        </p>
      )}
      {page?.items.length === 0 && <p className="p-1.5 text-faint">{words.none}</p>}
      <ul>
        {page?.items.map(({ id, kind: name, source, at, what, size }) => (
          <li key={id}>
            <button
              type="button"
              onClick={() => onOpen(id)}
              className="block w-full rounded-md px-1.5 py-1 text-left hover:bg-hover pointer-coarse:min-h-11"
            >
              <span className="block truncate text-sm">
                {name} <span className="text-soft">{what}</span>
              </span>
              <span className="flex gap-2 text-xs text-faint">
                <time dateTime={at}>{shownTime(at, language, new Date())}</time>
                <span>{source}</span>
                <span>{words.characters(shownCount(size))}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
      {more !== null && (
        <Button className="m-1.5" onClick={more}>
          {words.more}
        </Button>
      )}
    </div>
  );
}
