import { expect, test } from "vitest";
import { agentServerInterface } from "./openapi-documents.ts";
import { writeOpenApi } from "./openapi.ts";
import { agentServerRoutes } from "./routes/agent-server-routes.ts";
import type { Route } from "./routes/route.ts";

const routes: readonly Route[] = Object.values(agentServerRoutes);
const document = writeOpenApi(routes, agentServerInterface) as {
  info: object;
  paths: Record<string, Record<string, { operationId: string; security?: object[] }>>;
  components: { schemas: Record<string, object> };
};
const text = JSON.stringify(document);

test("the document carries the contract's name and version", () => {
  expect(document.info).toEqual({ title: "agent server", version: "0.1.0" });
});

test("every reference leads to a component and every component is used", () => {
  const mentioned = new Set([...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name));
  expect(mentioned).toEqual(new Set(Object.keys(document.components.schemas)));
});

test("nothing of our own notation gets out", () => {
  for (const word of ["$id", "impliedDefault", "~kind"]) expect(text).not.toContain(word);
});

test("clients 14: schemas have titles, those of actions the name of their kind; the agent of a request is a choice", () => {
  const { schemas } = document.components as { schemas: Record<string, Record<string, unknown>> };
  const untitled = Object.entries(schemas).filter(
    ([name, schema]) => schema["title"] !== name.replace(/-(Input|Output)$/, ""),
  );
  expect(untitled).toEqual([]);
  const actions = (schemas["Action"]!["oneOf"] as { $ref: string }[]).map(({ $ref }) =>
    $ref.split("/").at(-1)!,
  );
  expect(actions.length).toBeGreaterThan(20);
  for (const name of actions)
    expect(schemas[name]).toMatchObject({
      title: name,
      type: "object",
      properties: { kind: { const: name } },
    });
  for (const side of ["Input", "Output"])
    expect(schemas[`AgentBase-${side}`]).toEqual({
      title: "AgentBase",
      oneOf: ["Agent", "ACPAgent"].map((kind) => ({ $ref: `#/components/schemas/${kind}-${side}` })),
      discriminator: expect.objectContaining({ propertyName: "kind" }) as object,
    });
});

test("every route has its own operation id, its parameters and, unless it is open, a key", () => {
  const ids = routes.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(Object.keys(agentServerRoutes));
  for (const route of routes) {
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const { properties = {} }: { properties?: object } = route.params ?? {};
    expect(Object.keys(properties)).toEqual(inPath);
  }
  const open = routes.filter(({ auth }) => !auth).map(({ path }) => path);
  expect(open).toEqual(["/alive", "/health", "/ready", "/server_info", "/"]);
});

test("event search declares no key, because the contract declares none; the routes beside it do", () => {
  expect(
    document.paths["/api/conversations/{conversation_id}/events/search"]!["get"]!.security,
  ).toBeUndefined();
  expect(document.paths["/api/conversations/{conversation_id}/events/count"]!["get"]!.security).toEqual([
    { sessionApiKey: [] },
  ]);
});

test("fixed paths stand before the paths that would swallow them", () => {
  const paths = routes.filter(({ method }) => method === "GET").map(({ path }) => path);
  for (const [index, path] of paths.entries()) {
    const earlier = paths
      .slice(0, index)
      .map((other) => new RegExp(`^${other.replaceAll(/\{\w+\}/g, "[^/]+")}$`));
    expect(earlier.filter((pattern) => pattern.test(path))).toEqual([]);
  }
});

test("a schema that does not exist is named", () => {
  expect(() => writeOpenApi([], { ...agentServerInterface, schemas: ["Nothing"] })).toThrow(
    'named "Nothing"',
  );
});
