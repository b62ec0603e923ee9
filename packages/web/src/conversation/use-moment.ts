import type { PastState } from "@convoke/protocol";
import { useCallback, useEffect, useRef, useState } from "react";
import { useServices } from "../services/services.ts";

export type Moment = {
  /** Null before the first answer. */
  readonly past: PastState | null;
  /** The requested position; null once it is shown. */
  readonly wanted: number | null;
  readonly problem: string | null;
  /** Moves to a position of the log; debounced. */
  readonly goTo: (position: number) => void;
};

/** Milliseconds without movement before the position is loaded. */
const pauseMs = 120;

/**
 * Loads the state of the conversation at an event, by default the newest; `onMoved` is called with each other event.
 */
export function useMoment(id: string, at: string, onMoved: (eventId: string) => void): Moment {
  const { client } = useServices();
  const [past, setPast] = useState<PastState | null>(null);
  const [wanted, setWanted] = useState<number | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const pending = useRef<AbortController | null>(null);
  const shown = useRef<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

  const read = useCallback(
    async (query: { event_id?: string; position?: number }): Promise<void> => {
      pending.current?.abort();
      const own = new AbortController();
      pending.current = own;
      try {
        const reply = await client.call("GET /api/conversations/{conversation_id}/at", {
          params: { conversation_id: id },
          query,
          signal: own.signal,
        });
        if (own.signal.aborted) return;
        shown.current = reply.event_id;
        setPast(reply);
        setWanted((now) => (now === query.position ? null : now));
        setProblem(null);
        if (reply.event_id !== null) onMoved(reply.event_id);
      } catch (error) {
        if (own.signal.aborted) return;
        setWanted(null);
        setProblem(error instanceof Error ? error.message : String(error));
      }
    },
    [client, id, onMoved],
  );
  useEffect(() => {
    // The URL contains the current position, which is loaded already.
    if (shown.current === null || shown.current !== at) void read(at === "" ? {} : { event_id: at });
  }, [at, read]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      pending.current?.abort();
    },
    [],
  );
  const goTo = useCallback(
    (position: number): void => {
      clearTimeout(timer.current);
      pending.current?.abort();
      setWanted(position);
      timer.current = setTimeout(() => void read({ position }), pauseMs);
    },
    [read],
  );
  return { past, wanted, problem, goTo };
}
