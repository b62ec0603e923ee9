import { ApiError } from "@convoke/client";
import { useEffect, useState } from "react";
import { shownDuration, shownSize } from "@convoke/client/view";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";
import { Explanation } from "./parts.tsx";
import { Problem } from "../ui/problem.tsx";
import { parseMetrics, type ServerHealth } from "./parse-metrics.ts";
import { useResource } from "./use-resource.ts";

/** Version and health of the server. */
export function ServerSection() {
  const words = useMoreWords().settings.server;
  const start = useResource("GET /api/start");
  const info = useResource("GET /server_info");
  const ready = useResource("GET /ready");
  const { health, refusal } = useServerHealth();
  const yesNo = (isSo: boolean): string => (isSo ? words.yes : words.no);
  return (
    <>
      <Explanation>{words.explanation}</Explanation>
      <Problem text={info.problem ?? start.problem} />
      <dl className="mb-6 grid max-w-lg grid-cols-[1fr_max-content] gap-x-4 gap-y-1.5">
        {start.value !== undefined && <Fact name={words.version} value={start.value.server.version} />}
        {info.value !== undefined && (
          <Fact name={words.uptime} value={shownDuration(info.value.uptime * 1_000)} />
        )}
        <Fact
          name={words.ready}
          value={ready.problem ?? (ready.value === undefined ? "" : yesNo(ready.value["status"] === "ready"))}
        />
        {start.value !== undefined && (
          <>
            <Fact name={words.machine} value={yesNo(start.value.can.machine)} />
            <Fact name={words.sandboxes} value={yesNo(start.value.can.sandboxes)} />
          </>
        )}
        {health !== null && <HealthFacts health={health} />}
      </dl>
      {refusal !== null && <p className="text-sm text-soft">{refusal}</p>}
    </>
  );
}

function HealthFacts({ health }: { readonly health: ServerHealth }) {
  const words = useMoreWords().settings.server;
  const { memoryBytes, busyMs, storeMs, sockets } = health;
  return (
    <>
      <Fact name={words.conversations} value={words.ofWhich(health.conversations, health.working)} />
      {sockets !== null && <Fact name={words.sockets} value={String(sockets)} />}
      {memoryBytes !== null && <Fact name={words.memory} value={shownSize(memoryBytes)} />}
      {storeMs !== null && <Fact name={words.store} value={`${storeMs.toFixed(1)} ms`} />}
      {busyMs !== null && <Fact name={words.busy} value={`${busyMs.toFixed(0)} ms`} />}
      <Fact name={words.models} value={words.failed(health.modelCalls, health.modelErrors)} />
    </>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <>
      <dt className="text-soft">{name}</dt>
      <dd className="text-right tabular-nums">{value}</dd>
    </>
  );
}

/** The metrics, if the user may read them: they cover all users. */
function useServerHealth(): { readonly health: ServerHealth | null; readonly refusal: string | null } {
  const { client } = useServices();
  const [health, setHealth] = useState<ServerHealth | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    client
      .open("GET /metrics", { signal: stop.signal })
      .then(async (reply) => setHealth(parseMetrics(await reply.text())))
      .catch((error: unknown) => {
        if (stop.signal.aborted) return;
        if (error instanceof ApiError) setRefusal(error.message);
        else console.warn("The metrics could not be read.", error);
      });
    return () => stop.abort();
  }, [client]);
  return { health, refusal };
}
