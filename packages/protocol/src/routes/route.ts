import type { TSchema } from "typebox";
import type { UserRole } from "../security/user-role.ts";

/** One response of a route. Without a schema the body is not JSON, or not specified. */
export type RouteResponse = { readonly description: string; readonly schema?: TSchema };

/** Everything about a route except its handler. `{name}` in the path is a parameter. */
export type Route = {
  readonly method: "DELETE" | "GET" | "PATCH" | "POST" | "PUT";
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  /** True when callers need a key, if the server has keys. */
  readonly auth: boolean;
  /** The least role that may use the route, where it is not that of its method; see {@link leastRole}. */
  readonly role?: UserRole;
  /** Whether the key of one conversation may use the route, where its path does not say so; see {@link isInScope}. */
  readonly inScope?: boolean;
  /** True when the link of a shared conversation may use the route, up to its last event. */
  readonly inShare?: true;
  /** False when the contract declares no key although one may be needed. */
  readonly declaresAuth?: false;
  /** True when the cookie of a workspace session is accepted too. */
  readonly acceptsCookie?: true;
  readonly params?: TSchema;
  /** Name of the last parameter when it matches the whole rest of the path, including slashes. */
  readonly restParameter?: string;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** A multipart form instead of a body; the handler reads it as it arrives. */
  readonly form?: TSchema;
  /** True when the body may contain images or long texts of a conversation; other bodies are limited to a small size. */
  readonly takesLargeBody?: true;
  /** True for pages of a log: the number of pages per user that are built or waiting to be sent is limited. */
  readonly mayAnswerMuch?: true;
  /** True when the body is optional. */
  readonly isBodyOptional?: true;
  /** Converts the forms that clients really send into the documented one, before validation. */
  readonly tolerateBody?: (body: unknown) => unknown;
  readonly responses: Readonly<Record<number, RouteResponse>>;
};

/** The least role that may use a route: by default a viewer reads, and a member does everything else. */
export function leastRole({ role, method }: Pick<Route, "role" | "method">): UserRole {
  return role ?? (method === "GET" ? "viewer" : "member");
}

/** Whether the key of one conversation may use a route: by default where the path names a conversation. */
export function isInScope({ inScope, path }: Pick<Route, "inScope" | "path">): boolean {
  return inScope ?? path.includes("conversation_id}");
}

/** The same routes with another least role. */
export function withRole<const T extends Readonly<Record<string, Route>>>(role: UserRole, routes: T): T {
  const limited = Object.entries(routes).map(([operationId, route]) => [operationId, { ...route, role }]);
  return Object.fromEntries(limited) as T;
}

type Draft = Omit<Route, "operationId" | "tag">;

/** A group of routes with one tag; keys are operation ids. */
export function routesOf<const T extends Record<string, Draft>>(tag: string, drafts: T) {
  const routes = Object.entries(drafts).map(([operationId, draft]) => [
    operationId,
    { ...draft, operationId, tag },
  ]);
  return Object.fromEntries(routes) as { readonly [K in keyof T]: T[K] & { operationId: K; tag: string } };
}
