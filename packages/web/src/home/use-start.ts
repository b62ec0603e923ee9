import type { Start } from "@convoke/protocol";
import { useEffect, useState } from "react";
import { useServices } from "../services/services.ts";

/** The server's start information; null until it has responded. */
export function useStart(): Start | null {
  const { client } = useServices();
  const [start, setStart] = useState<Start | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    client
      .call("GET /api/start", { signal: stop.signal })
      .then(setStart)
      .catch((error: unknown) => {
        if (!stop.signal.aborted) console.warn("The server's capabilities could not be loaded.", error);
      });
    return () => stop.abort();
  }, [client]);
  return start;
}
