import { Type } from "typebox";
import { mapOf } from "../schema.ts";
import { HealthStatus } from "../workspace/health.ts";
import { ServerInfo } from "../workspace/server-info.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const words = mapOf(Type.String());

/** Health and version of the server. */
export const serverRoutes = routesOf("Server", {
  isAlive: {
    method: "GET",
    path: "/alive",
    summary: "Answer as long as the process lives",
    auth: false,
    responses: ok("It lives.", HealthStatus),
  },
  getHealth: {
    method: "GET",
    path: "/health",
    summary: "Answer as long as the server can serve",
    auth: false,
    responses: ok("It serves. With `Accept: text/plain` the text OK.", HealthStatus),
  },
  isReady: {
    method: "GET",
    path: "/ready",
    summary: "Answer once everything that requests need is there",
    auth: false,
    responses: { ...ok("It is ready.", words), 503: { description: "It is not ready yet.", schema: words } },
  },
  getServerInfo: {
    method: "GET",
    path: "/server_info",
    summary: "Name, version and age of the server",
    auth: false,
    responses: ok("The server.", ServerInfo),
  },
  getRoot: {
    method: "GET",
    path: "/",
    summary: "The same as /server_info for programs; browsers get the web pages where there are any",
    auth: false,
    responses: ok("The server.", ServerInfo),
  },
  listTools: {
    method: "GET",
    path: "/api/tools/",
    summary: "Names of the tools that an agent can ask for",
    auth: true,
    responses: ok("The names.", Type.Array(Type.String())),
  },
});
