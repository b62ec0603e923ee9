import type { BoundSecretRegistry } from "../egress/bound-secret-registry.ts";
import type { EgressOptions, EgressRecord } from "../egress/egress.ts";
import type { Logger } from "../lib/logger.ts";
import type { Account } from "../sandboxes/sandbox-directory.ts";
import type { ToolHostProgram } from "../sandboxes/tool-host-program.ts";

/** Ways to hosts: their addresses, connections to these, and which certificates are trusted. */
export type Outside = Required<Pick<EgressOptions, "resolve" | "connect" | "upstreamTrust">>;

/** What the walls of one server work with. */
export type BubblewrapWallsDeps = {
  /** Absolute. */
  readonly dataDir: string;
  readonly program: ToolHostProgram;
  /** The names of the tools of that program, sorted. */
  readonly catalogue: readonly string[];
  /** The server's environment. Only language, time zone and the places of programs are read from it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly self: Account;
  readonly logger: Logger;
  /** True for an address and port at which this server listens. */
  readonly isOwnListener: (address: string, port: number) => boolean;
  /** Secrets that the walls put into requests. */
  readonly boundSecrets: Pick<BoundSecretRegistry, "ofWall" | "watch">;
  /** Called for everything that passed or was refused on the way out of a conversation's wall. Must not throw. */
  readonly onEgress: (conversationId: string, record: EgressRecord) => void;
  /** How the hosts of the network are reached; as this machine does unless given. */
  readonly outside?: Outside | undefined;
  /** Milliseconds after its last use at which a wall ends; ten minutes unless given. */
  readonly idleMs?: number;
};
