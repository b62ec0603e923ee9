import type { ModelRetry } from "@convoke/client";
import { useEffect, useState } from "react";
import { useMoreWords } from "../words/words.ts";

/** Time until the next attempt of a failed model call. */
export default function RetryLine({ retry }: { readonly retry: ModelRetry }) {
  const { until, attempt, code } = retry;
  const words = useMoreWords().retryLine;
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = until === null ? 0 : Math.max(0, Math.round((Date.parse(until) - now) / 1_000));
  if (code === "MCPServersStarting")
    return <p className="py-1 pl-1.5 text-sm text-faint">{words.servers(seconds)}</p>;
  return (
    <p className="py-1 pl-1.5 text-sm text-warn">
      {words.retry(attempt, seconds)} <span className="font-mono text-xs">{code}</span>
    </p>
  );
}
