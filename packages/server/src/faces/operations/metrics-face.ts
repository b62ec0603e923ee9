import { metricsRoutes } from "@convoke/protocol";
import { isOperator } from "../../security/roles.ts";
import { face, type Face } from "../../http/mount.ts";
import { Fault } from "../../lib/fault.ts";
import type { Metrics } from "../../observability/metrics.ts";

export type MetricsFaceDeps = {
  readonly metrics: Pick<Metrics, "read">;
  /**
   * True admits everybody who reaches the server; otherwise only its operators, because the numbers include all users.
   */
  readonly isOpen: boolean;
};

/** The metrics of the whole server. */
export function metricsFace({ metrics, isOpen }: MetricsFaceDeps): Face {
  const readMetrics = { ...metricsRoutes.readMetrics, auth: !isOpen };
  return face(
    { readMetrics },
    {
      readMetrics: async ({ caller }) => {
        if (!isOpen && !isOperator(caller)) throw notForUsers();
        const { text, contentType } = await metrics.read();
        return { bytes: Buffer.from(text), contentType };
      },
    },
  );
}

function notForUsers(): Fault {
  return new Fault(
    "refused",
    "operators_only",
    "The metrics are of all users, so they are for admins only. Use the server's own key, or that of an admin.",
  );
}
