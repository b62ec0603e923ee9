import { Problem } from "../ui/problem.tsx";
import { SidePanel } from "../ui/side-panel.tsx";
import { useMoreWords } from "../words/words.ts";
import { RequestView } from "./request-view.tsx";
import { useContext } from "./use-context.ts";

type ContextPanelProps = {
  readonly conversationId: string;
  /** The event that resulted from the request. */
  readonly eventId: string;
  readonly onGo: (eventId: string) => void;
  readonly onClose: () => void;
};

/** The model input that led to an event. */
export default function ContextPanel({ conversationId, eventId, onGo, onClose }: ContextPanelProps) {
  const words = useMoreWords().context;
  const shown = useContext(conversationId, eventId);
  return (
    <SidePanel
      conversationId={conversationId}
      title={words.title}
      width="w-[30rem]"
      isBusy={shown.phase === "loading"}
      subject={eventId}
      onClose={onClose}
    >
      <div className="min-h-0 grow overflow-y-auto">
        {shown.phase === "unread" && <p className="p-3 text-faint">{words.unread}</p>}
        <Problem className="m-3" text={shown.phase === "failed" ? shown.problem : null} />
        {shown.phase === "ready" && <RequestView context={shown.context} onGo={onGo} />}
      </div>
    </SidePanel>
  );
}
