import { routesOf } from "./route.ts";

/** Our own: numbers about the whole server, for whoever runs it. */
export const metricsRoutes = routesOf("Server", {
  readMetrics: {
    method: "GET",
    path: "/metrics",
    summary: "Metrics in the text format of Prometheus",
    auth: true,
    responses: { 200: { description: "The metrics, as text." } },
  },
});
