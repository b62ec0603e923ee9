import type { ConversationNetwork } from "@convoke/protocol";
import { useCallback, useEffect, useState } from "react";
import { useServices } from "../services/services.ts";

export type ShownNetwork = {
  /** Null until the server has answered. */
  readonly network: ConversationNetwork | null;
  readonly problem: string | null;
  readonly allow: (host: string) => void;
};

/** Loads what went out of a conversation's wall or sandbox, again for each `version`. */
export function useNetwork(conversationId: string, version: string): ShownNetwork {
  const { client } = useServices();
  const [network, setNetwork] = useState<ConversationNetwork | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const take = useCallback(async (asking: Promise<ConversationNetwork>, signal?: AbortSignal) => {
    try {
      const answered = await asking;
      if (signal?.aborted === true) return;
      setNetwork(answered);
      setProblem(null);
    } catch (error) {
      if (signal?.aborted !== true) setProblem(error instanceof Error ? error.message : String(error));
    }
  }, []);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const params = { conversation_id: conversationId };
    void take(client.call("GET /api/conversations/{conversation_id}/network", { params, signal }), signal);
    return () => stop.abort();
  }, [client, take, conversationId, version]);
  const allow = useCallback(
    (host: string): void =>
      void take(
        client.call("POST /api/conversations/{conversation_id}/network/grants", {
          params: { conversation_id: conversationId },
          body: { hosts: [host] },
        }),
      ),
    [client, take, conversationId],
  );
  return { network, problem, allow };
}
