import type { QuotaUse } from "@convoke/protocol";
import { useEffect, useState } from "react";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";

/** One line for each quota of which at least 80 % are used. */
export function QuotaNote() {
  const words = useMoreWords().home.quota;
  const near = useNearQuotas();
  return near.map(({ name, used, max }) => (
    <p key={name} role="status" className="mb-3 rounded-md bg-warn-wash px-3 py-2 text-sm text-warn">
      {words[name](used, max)} {used >= max && words.reached[name]}
    </p>
  ));
}

function useNearQuotas(): readonly QuotaUse[] {
  const { client } = useServices();
  const [near, setNear] = useState<readonly QuotaUse[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    client
      .call("GET /api/quotas", { signal: stop.signal })
      .then(({ quotas }) => setNear(quotas.filter(({ is_near: isNear }) => isNear)))
      .catch((error: unknown) => {
        if (!stop.signal.aborted) console.warn("The quotas could not be read.", error);
      });
    return () => stop.abort();
  }, [client]);
  return near;
}
