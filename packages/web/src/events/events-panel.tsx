import { useState } from "react";
import { shownCount } from "@convoke/client/view";
import { shownTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { SidePanel } from "../ui/side-panel.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords } from "../words/words.ts";
import { EventFilter, everything, type EventChoice } from "./event-filter.tsx";
import { EventText } from "./event-text.tsx";
import { ReplaySeal } from "./replay-seal.tsx";
import { useEvents } from "./use-events.ts";

type EventsPanelProps = {
  readonly conversationId: string;
  /** The shown event; null for the list. */
  readonly eventId: string | null;
  /** A change of this value reloads newer ones. */
  readonly version: string | null;
  readonly onOpen: (eventId: string | null) => void;
  readonly onGo: (eventId: string) => void;
  readonly onClose: () => void;
};

/** The log: every event of the conversation as it is stored. */
export default function EventsPanel(props: EventsPanelProps) {
  const { conversationId, eventId, version, onOpen, onGo, onClose } = props;
  const words = useMoreWords().events;
  const [choice, setChoice] = useState(everything);
  return (
    <SidePanel
      conversationId={conversationId}
      title={words.title}
      width="w-[30rem]"
      subject={eventId}
      onClose={onClose}
    >
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
    </SidePanel>
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
      <Problem className="m-1.5" text={problem} />
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
