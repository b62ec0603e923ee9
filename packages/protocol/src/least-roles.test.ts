import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { agentFaceRoutes, appFaceRoutes } from "./routes/face-routes.ts";
import { isInScope, leastRole, type Route } from "./routes/route.ts";

/** One line a route: the least role, whether a key of one conversation may use it (`shared`: also a share link), the method, the path. A route that is new here is looked at before it is added. */
const golden = readFileSync(new URL("./golden/least-roles.txt", import.meta.url), "utf8");

test("every route is in the table of least roles, with its own and its scope", () => {
  const tables: readonly Readonly<Record<string, Route>>[] = [agentFaceRoutes, appFaceRoutes];
  const lines = tables.flatMap((table) => Object.values(table)).map(toLine);
  expect(lines.toSorted()).toEqual(golden.trimEnd().split("\n").toSorted());
});

function toLine(route: Route): string {
  const role = route.auth ? leastRole(route) : "anyone";
  const scope = route.auth && isInScope(route) ? (route.inShare === true ? "shared" : "conversation") : "";
  return `${role.padEnd(6)}  ${scope.padEnd(12)}  ${route.method.padEnd(6)}  ${route.path}`;
}
