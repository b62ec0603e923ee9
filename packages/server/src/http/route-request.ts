import type { FastifyRequest } from "fastify";
import type { SettingsUsed } from "@convoke/protocol";
import type { Caller } from "../security/caller.ts";

/** A request after authentication and validation; what the handler reads has the types of its route's schemas. */
export type RouteRequest = {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** With its defaults filled in. */
  readonly body: unknown;
  /**
   * Unused fields of the body, by their path, such as `agent.colour`; reported to the caller and in the conversation.
   */
  readonly unused: readonly string[];
  /** The version of the settings that the body was completed from; absent when it was not completed. */
  readonly settingsVersion?: number;
  /** The stored profiles that the body was completed from. */
  readonly settingsUsed?: SettingsUsed;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Aborts on a client disconnect before the answer. */
  readonly signal: AbortSignal;
  /** For cases that route tables cannot express, e.g. a streamed body. */
  readonly request: FastifyRequest;
};
