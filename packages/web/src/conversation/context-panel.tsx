import { X } from "lucide-react";
import { useEffect, useId, useRef } from "react";
import { labelsOf } from "../lib/title-id.ts";
import { IconButton } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { RequestView } from "./request-view.tsx";
import { useContext } from "./use-context.ts";

type ContextPanelProps = {
  readonly conversationId: string;
  /** The event that came of the request. */
  readonly eventId: string;
  readonly onGo: (eventId: string) => void;
  readonly onClose: () => void;
};

/** What the model was shown before it said or did something. */
export default function ContextPanel({ conversationId, eventId, onGo, onClose }: ContextPanelProps) {
  const words = useMoreWords().context;
  const { close } = useWords().common;
  const titleId = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [eventId]);
  const shown = useContext(conversationId, eventId);
  return (
    <section
      aria-labelledby={labelsOf(titleId, conversationId)}
      aria-busy={shown.phase === "loading"}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
      className="flex w-[30rem] min-w-0 shrink-0 flex-col border-l border-line bg-canvas max-[1100px]:absolute max-[1100px]:inset-0 max-[1100px]:z-10 max-[1100px]:w-auto max-[1100px]:border-l-0 in-data-split:absolute in-data-split:inset-0 in-data-split:z-10 in-data-split:w-auto in-data-split:border-l-0"
    >
      <header className="flex h-11 shrink-0 items-center border-b border-line pr-1.5 pl-3">
        <h2 id={titleId} ref={heading} tabIndex={-1} className="grow truncate font-medium outline-none">
          {words.title}
        </h2>
        <IconButton label={close} onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      <div className="min-h-0 grow overflow-y-auto">
        {shown.phase === "unread" && <p className="p-3 text-faint">{words.unread}</p>}
        {shown.phase === "failed" && (
          <p role="alert" className="m-3 rounded-md bg-bad-wash px-3 py-1.5 text-sm text-bad">
            {shown.problem}
          </p>
        )}
        {shown.phase === "ready" && <RequestView context={shown.context} onGo={onGo} />}
      </div>
    </section>
  );
}
