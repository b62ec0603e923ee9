import { ApiError } from "@convoke/client";
import type { EventContext } from "@convoke/protocol";
import { useEffect, useState } from "react";
import { useServices } from "../services/services.ts";

export type Shown =
  | { readonly phase: "loading" | "unread" }
  | { readonly phase: "failed"; readonly problem: string }
  | { readonly phase: "ready"; readonly context: EventContext };

/** Loads the model request that led to an event, as the server rebuilds it. */
export function useContext(conversationId: string, eventId: string): Shown {
  const { client } = useServices();
  const [shown, setShown] = useState<Shown>({ phase: "loading" });
  useEffect(() => {
    const stop = new AbortController();
    setShown({ phase: "loading" });
    client
      .call("GET /api/conversations/{conversation_id}/events/{event_id}/context", {
        params: { conversation_id: conversationId, event_id: eventId },
        signal: stop.signal,
      })
      .then((context) => setShown({ phase: "ready", context }))
      .catch((error: unknown) => {
        if (stop.signal.aborted) return;
        if (error instanceof ApiError && error.code === "not_read_yet") return setShown({ phase: "unread" });
        setShown({ phase: "failed", problem: error instanceof Error ? error.message : String(error) });
      });
    return () => stop.abort();
  }, [client, conversationId, eventId]);
  return shown;
}
