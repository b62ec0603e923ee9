import { useEffect, useState } from "react";
import type { LogView } from "../log/open-log.ts";
import { useServices } from "../services/services.ts";

/** Milliseconds to wait for further events before the server is told. */
const quietMs = 500;

/** Stores how far the conversation was shown, once it rests while it is visible. */
export function useReadMarker(id: string, { lastEventId, state }: LogView): void {
  const { client } = useServices();
  const isVisible = useIsVisible();
  const isResting = state.status !== "running";
  useEffect(() => {
    if (lastEventId === null || !isVisible || !isResting) return;
    const timer = setTimeout(() => {
      client
        .call("PUT /api/conversations/{conversation_id}/marks", {
          params: { conversation_id: id },
          body: { read_event_id: lastEventId },
        })
        .catch((error: unknown) => {
          // Sent with the next event, or when the page becomes visible.
          console.warn("The read position could not be saved.", error);
        });
    }, quietMs);
    return () => clearTimeout(timer);
  }, [client, id, lastEventId, isVisible, isResting]);
}

function useIsVisible(): boolean {
  const [isVisible, setIsVisible] = useState(() => document.visibilityState === "visible");
  useEffect(() => {
    const onChange = (): void => setIsVisible(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", onChange);
    return () => document.removeEventListener("visibilitychange", onChange);
  }, []);
  return isVisible;
}
