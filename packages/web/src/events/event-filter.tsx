import type { EventKind } from "@convoke/protocol";
import { useEffect, useState } from "react";
import { useMoreWords } from "../words/words.ts";

/** A filter of events; an empty text matches all. */
export type EventChoice = { readonly kind: string; readonly source: string; readonly body: string };

export const everything: EventChoice = { kind: "", source: "", body: "" };

/** Kinds that can be selected; all kinds are listed without a filter. */
const kinds: readonly EventKind[] = [
  "MessageEvent",
  "ActionEvent",
  "ObservationEvent",
  "AgentErrorEvent",
  "UserRejectObservation",
  "ACPToolCallEvent",
  "ConversationStateUpdateEvent",
  "ConversationErrorEvent",
  "Condensation",
  "SystemPromptEvent",
];
const sources = ["user", "agent", "environment"] as const;
/** Milliseconds without typing before the filter applies. */
const pauseMs = 250;
const field =
  "h-7 min-w-0 rounded-md border border-edge bg-canvas px-1.5 text-sm pointer-coarse:h-11 pointer-coarse:text-[16px]";

type EventFilterProps = {
  readonly choice: EventChoice;
  readonly onChoose: (choice: EventChoice) => void;
};

/** The filter fields: kind, source, text of messages. */
export function EventFilter({ choice, onChoose }: EventFilterProps) {
  const words = useMoreWords().events;
  const [body, setBody] = useState(choice.body);
  useEffect(() => {
    if (body === choice.body) return;
    const timer = setTimeout(() => onChoose({ ...choice, body }), pauseMs);
    return () => clearTimeout(timer);
  }, [body, choice, onChoose]);
  return (
    <div
      role="group"
      aria-label={words.filter}
      className="flex shrink-0 flex-wrap gap-1.5 border-b border-line p-1.5"
    >
      <select
        aria-label={words.kind}
        value={choice.kind}
        onChange={(event) => onChoose({ ...choice, body, kind: event.target.value })}
        className={`grow basis-32 ${field}`}
      >
        <option value="">{words.all}</option>
        {kinds.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label={words.source}
        value={choice.source}
        onChange={(event) => onChoose({ ...choice, body, source: event.target.value })}
        className={`grow basis-24 ${field}`}
      >
        <option value="">{words.allSources}</option>
        {sources.map((name) => (
          <option key={name} value={name}>
            {words.sources[name]}
          </option>
        ))}
      </select>
      <input
        type="search"
        aria-label={words.body}
        placeholder={words.body}
        value={body}
        maxLength={200}
        onChange={(event) => setBody(event.target.value)}
        className={`grow basis-40 ${field}`}
      />
    </div>
  );
}
