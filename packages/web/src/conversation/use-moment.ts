import type { PastState } from "@convoke/protocol";
import { useCallback, useEffect, useRef, useState } from "react";
import { useServices } from "../services/services.ts";

export type Moment = {
  /** Null before the first answer. */
  readonly past: PastState | null;
  /** Where somebody is on the way to; null where they have arrived. */
  readonly wanted: number | null;
  readonly problem: string | null;
  /** Goes to a position of the log, once nobody has asked for another one for a moment. */
  readonly goTo: (position: number) => void;
};

/** Somebody who moves along the log asks for the place where they stop. */
const pauseMs = 120;

/** How the conversation stood at an event, the newest one where none is named; `onMoved` is told each other event that was gone to. */
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
    // What was gone to stands in the address too, and is here already.
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
