import type { Landmarks } from "@convoke/protocol";
import { useEffect, useState } from "react";
import { useServices } from "../services/services.ts";

/** Loads the landmarks of a log, again when it has grown; null until then, or if they are not available. */
export function useLandmarks(id: string, length: number): Landmarks | null {
  const { client } = useServices();
  const [read, setRead] = useState<{ readonly id: string; readonly landmarks: Landmarks } | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    client
      .call("GET /api/conversations/{conversation_id}/landmarks", { params: { conversation_id: id }, signal })
      .then((landmarks) => setRead({ id, landmarks }))
      .catch((error: unknown) => {
        // The slider works without them.
        if (!signal.aborted) console.warn("The timeline's marks could not be loaded.", error);
      });
    return () => stop.abort();
  }, [client, id, length]);
  return read?.id === id ? read.landmarks : null;
}
