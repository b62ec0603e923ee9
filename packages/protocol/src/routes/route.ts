import type { TSchema } from "typebox";

/** One answer of a route. Without a schema the body is not JSON, or nothing is promised about it. */
export type RouteResponse = { readonly description: string; readonly schema?: TSchema };

/** Everything about a route except what it does. `{name}` in the path is a parameter. */
export type Route = {
  readonly method: "DELETE" | "GET" | "PATCH" | "POST" | "PUT";
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  /** True when callers need a key wherever the server has keys. */
  readonly auth: boolean;
  /** False where the contract declares no key although one may be needed. */
  readonly declaresAuth?: false;
  /** True where the cookie of a workspace session opens it too. */
  readonly acceptsCookie?: true;
  readonly params?: TSchema;
  /** The last parameter when it takes the whole rest of the path, slashes too. */
  readonly restParameter?: string;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** A multipart form in the place of a body; the handler reads it as it arrives. */
  readonly form?: TSchema;
  /** True where the body may carry pictures or long texts of a conversation; others are small. */
  readonly takesLargeBody?: true;
  /** True for pages of a log: of one user only so many are made, and wait to be taken, at once. */
  readonly mayAnswerMuch?: true;
  /** True when the request may come without its body. */
  readonly isBodyOptional?: true;
  /** Brings the forms that clients really send into the documented one, before the body is checked. */
  readonly tolerateBody?: (body: unknown) => unknown;
  readonly responses: Readonly<Record<number, RouteResponse>>;
};

type Draft = Omit<Route, "operationId" | "tag">;

/** A group of routes under one tag; the key of each is its operation id. */
export function routesOf<const T extends Record<string, Draft>>(tag: string, drafts: T) {
  const routes = Object.entries(drafts).map(([operationId, draft]) => [
    operationId,
    { ...draft, operationId, tag },
  ]);
  return Object.fromEntries(routes) as { readonly [K in keyof T]: T[K] & { operationId: K; tag: string } };
}
