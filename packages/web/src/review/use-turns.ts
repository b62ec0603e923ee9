import { useEffect, useState } from "react";
import { useServices } from "../services/services.ts";
import type { ChangeScope } from "@convoke/client/view";

export type ReviewedTurn = Extract<ChangeScope, { type: "turn" }> & { readonly text: string };

/** The newest turns with edits, newest first. */
export function useTurns(conversationId: string, version: string): readonly ReviewedTurn[] {
  const { client } = useServices();
  const [turns, setTurns] = useState<readonly ReviewedTurn[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    client
      .call("GET /api/conversations/{conversation_id}/outline", {
        params: { conversation_id: conversationId },
        signal: stop.signal,
      })
      .then(({ items }) =>
        setTurns((before) =>
          items
            .filter(({ actions }) => actions > 0)
            .map(({ event_id: firstId, last_event_id: lastId, text }) => {
              const known = before.find((turn) => turn.firstId === firstId);
              return known?.lastId === lastId ? known : { type: "turn", firstId, lastId, text };
            }),
        ),
      )
      .catch((error: unknown) => {
        // The other scopes still work.
        if (!stop.signal.aborted) console.warn("The turns could not be read.", error);
      });
    return () => stop.abort();
  }, [client, conversationId, version]);
  return turns;
}
