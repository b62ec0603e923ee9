import type { PendingToolCall } from "@convoke/protocol";
import { Hourglass } from "lucide-react";
import { useEffect, useState } from "react";
import type { Row } from "@convoke/client/view";
import type { LogView } from "../log/open-log.ts";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";

/** The open calls that clients carry out; the kind of their actions begins so. */
const clientActionPrefix = "ClientAction_";

/** The calls of client tools that wait for a result; nothing when there is none. */
export function PendingToolCalls({
  conversationId,
  view,
}: {
  readonly conversationId: string;
  readonly view: LogView;
}) {
  const isOpen = view.newest.some(isOpenCall);
  return isOpen ? <OpenCalls conversationId={conversationId} version={view.state.lastEventId ?? ""} /> : null;
}

function isOpenCall(row: Row): boolean {
  return (
    row.type === "action" &&
    row.outcome === null &&
    String(row.action?.["kind"]).startsWith(clientActionPrefix)
  );
}

/** `version`: read again when it changes. */
function OpenCalls({
  conversationId,
  version,
}: {
  readonly conversationId: string;
  readonly version: string;
}) {
  const { client } = useServices();
  const words = useMoreWords().pendingToolCalls;
  const [calls, setCalls] = useState<readonly PendingToolCall[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    client
      .call("GET /api/conversations/{conversation_id}/tool_results", {
        params: { conversation_id: conversationId },
        signal: stop.signal,
      })
      .then(({ items }) => setCalls(items))
      .catch((error: unknown) => {
        if (!stop.signal.aborted) console.warn("The pending calls could not be read.", error);
      });
    return () => stop.abort();
  }, [client, conversationId, version]);
  if (calls.length === 0) return null;
  return (
    <ul aria-label={words.label} className="mb-2 rounded-md border border-line bg-raised px-3 py-1.5 text-sm">
      {calls.map(({ action_id: id, tool_name: tool, deadline }) => (
        <li key={id} className="flex items-center gap-2 py-0.5">
          <Hourglass size={14} className="shrink-0 text-soft" aria-hidden="true" />
          {words.waits(tool, new Date(deadline).toLocaleTimeString())}
        </li>
      ))}
    </ul>
  );
}
