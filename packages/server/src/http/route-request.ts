import type { FastifyRequest } from "fastify";
import type { Caller } from "../security/caller.ts";

/** A request after authentication and validation; what the handler reads has the types of its route's schemas. */
export type RouteRequest = {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** With its defaults filled in. */
  readonly body: unknown;
  /** Fields of the body that change nothing, by their path, such as `agent.colour`; told to the caller and in the conversation. */
  readonly unused: readonly string[];
  /** Of the settings that the body was completed from; left out where it came as it is. */
  readonly settingsVersion?: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Aborted when the client goes away before it has its answer. */
  readonly signal: AbortSignal;
  /** For what tables of routes cannot say, e.g. a body that is streamed. */
  readonly request: FastifyRequest;
};
