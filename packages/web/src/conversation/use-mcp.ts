import type { McpServerInfo } from "@convoke/protocol";
import { useCallback, useEffect, useState } from "react";
import { useServices } from "../services/services.ts";

/** Milliseconds between polls while a server may recover by itself. */
const againMs = 2_000;

export type ShownMcp = {
  /** Null until the server has answered. */
  readonly servers: readonly McpServerInfo[] | null;
  readonly problem: string | null;
  readonly reconnect: (name: string) => void;
};

/** Loads the MCP servers of a conversation, again for each `version`, and polls while one of them has failed. */
export function useMcp(conversationId: string, version: string): ShownMcp {
  const { client } = useServices();
  const [servers, setServers] = useState<readonly McpServerInfo[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const take = useCallback(async (asking: Promise<{ items: McpServerInfo[] }>, signal?: AbortSignal) => {
    try {
      const { items } = await asking;
      if (signal?.aborted === true) return;
      setServers(items);
      setProblem(null);
    } catch (error) {
      if (signal?.aborted !== true) setProblem(error instanceof Error ? error.message : String(error));
    }
  }, []);
  const isOnWay = servers?.some(({ state }) => state !== "connected" && state !== "waiting") === true;
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const params = { conversation_id: conversationId };
    const ask = (): void =>
      void take(client.call("GET /api/conversations/{conversation_id}/mcp", { params, signal }), signal);
    ask();
    const timer = isOnWay ? setInterval(ask, againMs) : undefined;
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  }, [client, take, conversationId, version, isOnWay]);
  const reconnect = useCallback(
    (name: string): void =>
      void take(
        client.call("POST /api/conversations/{conversation_id}/mcp/{server_name}/reconnect", {
          params: { conversation_id: conversationId, server_name: name },
        }),
      ),
    [client, take, conversationId],
  );
  return { servers, problem, reconnect };
}
