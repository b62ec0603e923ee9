import { routesOf } from "./route.ts";

/** Our own: metrics of the whole server, for operators. */
export const metricsRoutes = routesOf("Server", {
  readMetrics: {
    method: "GET",
    path: "/metrics",
    summary: "Metrics in the text format of Prometheus",
    auth: true,
    responses: { 200: { description: "The metrics, as text." } },
  },
});
