import { agentFaceRoutes, appFaceRoutes, type Route } from "@convoke/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MemorySandboxes } from "../testing/memory-sandboxes.ts";
import { startTestServer, type TestServer } from "../testing/start-server.ts";

type Operation = { readonly operationId: string; readonly security?: readonly object[] };
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

/**
 * Open by design: whether the server lives, what it is, what a web client needs before it has a key, and where a browser returns to
 * from the login to an MCP server, with a one-time state; and where a browser logs in, with a ticket or a key.
 */
const open = [
  "/alive",
  "/health",
  "/ready",
  "/server_info",
  "/",
  "/api/v1/web-client/config",
  "/api/mcp/oauth/callback",
  "/api/auth/login",
  "/api/auth/methods",
  "/api/auth/oidc",
  "/api/auth/oidc/callback",
];
const documented = new Map<string, Route>(
  Object.values<Route>({ ...agentFaceRoutes, ...appFaceRoutes }).map((route) => [addressOf(route), route]),
);

let server: TestServer;
let served: { readonly address: string; readonly operation: Operation }[] = [];
beforeAll(async () => {
  server = await startTestServer({ openSandboxes: async () => new MemorySandboxes() });
  const { paths } = (await server.call("GET", "/openapi.json")).json as Document;
  served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      address: addressOf({ method: method.toUpperCase(), path }),
      operation,
    })),
  );
});
afterAll(() => server[Symbol.asyncDispose]());

test("what is served is what the OpenAPI documents describe, no more and no less", () => {
  expect(served.map(({ address }) => address).sort()).toEqual([...documented.keys()].sort());
});

test("P3: every route that is served refuses strangers, but those that are open by design", async () => {
  const answers: string[] = [];
  for (const { address } of served) {
    const [method, path] = address.split(" ") as [string, string];
    if (open.includes(path)) continue;
    const reply = await fetch(
      `${server.url}${path.replaceAll("{}", "00000000-0000-7000-8000-000000000000")}`,
      {
        method,
      },
    );
    if (reply.status !== 401) answers.push(`${address}: ${reply.status}`);
    await reply.body?.cancel();
  }
  expect(answers).toEqual([]);
});

function addressOf({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path.replaceAll(/\{\w+\}/g, "{}")}`;
}
