import { expect, test } from "vitest";
import { appServerRoutes } from "./routes/app-server-routes.ts";
import { agentFaceRoutes, appFaceRoutes } from "./routes/face-routes.ts";
import { legacyRoutes } from "./routes/legacy-routes.ts";
import type { Route } from "./routes/route.ts";

const tables: readonly Readonly<Record<string, Route>>[] = [agentFaceRoutes, appFaceRoutes];
const routes = tables.flatMap((table) => Object.values(table));

test("all faces are served from one origin: no operation id and no address is there twice", () => {
  const ids = routes.map(({ operationId }) => operationId);
  const addresses = routes.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, "{}")}`);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(addresses).size).toBe(addresses.length);
});

test("only the public configuration of the web client is open", () => {
  const open = [...Object.values(appServerRoutes), ...Object.values(legacyRoutes)].filter(
    ({ auth }) => !auth,
  );
  expect(open.map(({ path }) => path)).toEqual(["/api/v1/web-client/config"]);
});
