import type { KeyObject } from "node:crypto";
import type { LookupAddress } from "node:dns";
import type { Socket } from "node:net";
import type { SecureContext } from "node:tls";
import type { EgressPolicies } from "./policy/egress-policy.ts";

export type EgressOptions = EgressPolicies & {
  /** Where the wall's listener connects to. The caller owns its folder, and gives the file to another user where the wall runs as one. */
  readonly socketPath: string;
  /** Asked for each request, so that a changed secret counts at once. */
  readonly secrets: () => readonly BoundSecret[];
  /** The server's own listeners. They are never reachable, whatever a policy lists. */
  readonly isOwnListener: (address: string, port: number) => boolean;
  /** Must not throw. */
  readonly onRecord: (record: EgressRecord) => void;
  /** Told of failures that are no other machine's doing, and of those of the socket itself. Must not throw. */
  readonly onUnexpected: (error: unknown, message: string) => void;
  /** Resolves an allowed name. By default the system's resolver. */
  readonly resolve?: (host: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>;
  /** Connects to one of the checked addresses. By default TCP, the first that answers. */
  readonly connect?: (addresses: readonly LookupAddress[], port: number) => Socket;
  /** The machine's own proxy for a target, such as its `HTTPS_PROXY` says; null for none. */
  readonly parentProxy?: (host: string, port: number) => URL | null;
  /** Which certificates of hosts are trusted. Make one for all walls: reading the system's roots takes tens of milliseconds. */
  readonly upstreamTrust?: () => SecureContext;
  /** Private key on P-256 of the authority, where it has to be the same for the next process; made for this one unless given. */
  readonly authorityKey?: KeyObject | null;
  readonly limits?: Partial<EgressLimits>;
};

/** One wall's way out. */
export interface Egress {
  /** The wall's own authority, as PEM, for the trust stores inside. */
  readonly certificate: string;
  /** SHA-256 of the authority's public key in base64, as Chromium's `--ignore-certificate-errors-spki-list` has it. */
  readonly publicKeyDigest: string;
  /** Replaces the policies. Tunnels that are not allowed any more are cut. Throws a `Fault` that names a wrong field. */
  setPolicies(policies: EgressPolicies): void;
  /** Lets the conversation reach hosts, written as in `allow`, as far as the other policies do. Throws a `Fault` for a wrong host. */
  grant(hosts: readonly string[]): void;
  /** Ends the grants for these hosts, and cuts their tunnels. */
  revoke(hosts: readonly string[]): void;
  /** What passed and was refused since the start, by host and port. */
  totals(): readonly HostTotals[];
  /** The refusals since a mark that an earlier call returned; 0 for all. */
  refusalsSince(mark: number): RefusalsSince;
  /** Ends all connections and removes the socket. */
  close(): Promise<void>;
}

/** A secret that is put into requests to some hosts, over TLS. Inside the wall its value is the placeholder. */
export type BoundSecret = {
  readonly name: string;
  readonly placeholder: string;
  readonly value: string;
  /** Written as in `allow` of a policy. */
  readonly hosts: readonly string[];
  readonly as: readonly SecretPlace[];
};

/** Where a placeholder is replaced: in any header, in the name and password of HTTP Basic, in the query, in bodies up to 1 MiB. */
export type SecretPlace = "header" | "basic" | "query" | "body";

export type RefusalReason =
  | "no-rule"
  | "denied"
  | "private-address"
  | "own-listener"
  | "read-only"
  | "unusable-secret"
  | "too-many-connections";

/** For the audit, without values of secrets, queries and bodies. Times are milliseconds since 1970. */
export type EgressRecord =
  | (Passed & {
      /** Bytes that the server did not read; also a websocket, which has a `path`. */
      readonly kind: "tunnel";
      readonly path: string | null;
      readonly secrets: readonly string[];
    })
  | (Passed & {
      readonly kind: "request";
      readonly method: string;
      /** Without the query. */
      readonly path: string;
      /** Null when no answer came. */
      readonly status: number | null;
      /** Names of the secrets that were put in. */
      readonly secrets: readonly string[];
    })
  | {
      readonly kind: "refusal";
      readonly at: number;
      readonly host: string;
      readonly port: number;
      readonly reason: RefusalReason;
      readonly sentence: string;
      /** Equal ones: the first is reported at once, the others of its minute together. */
      readonly count: number;
    }
  | {
      /** A program inside did not accept the wall's certificate. */
      readonly kind: "untrusted";
      readonly at: number;
      readonly host: string;
      readonly port: number;
    };

type Passed = {
  readonly at: number;
  readonly durationMs: number;
  readonly host: string;
  readonly port: number;
  /** The conversation's rule that allowed it. */
  readonly rule: string;
  readonly sentBytes: number;
  readonly receivedBytes: number;
};

export type HostTotals = {
  readonly host: string;
  readonly port: number;
  /** Tunnels and requests. */
  readonly requests: number;
  readonly refusals: number;
  /** Towards the host. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
};

export type RefusalsSince = {
  readonly mark: number;
  /** Lines for the agent, or an empty text. */
  readonly text: string;
};

export type EgressLimits = {
  /** Of the wall; each may hold some MiB on its way. */
  readonly maxConnections: number;
  /** Connections to hosts that are being opened, of the wall and at one host and port. */
  readonly maxDials: number;
  readonly maxDialsAtHost: number;
  /** Hosts whose certificate and HTTP/2 session are kept, those used last. */
  readonly maxReadHosts: number;
  /** Names that are being resolved. */
  readonly maxLookups: number;
  /** For the first bytes of a connection, and for the head of a request. */
  readonly headMs: number;
  readonly resolveMs: number;
  /** For TCP, and once more for TLS. */
  readonly connectMs: number;
  /** Without a byte in either direction. */
  readonly idleMs: number;
  /** The same, once one side has ended. */
  readonly halfClosedMs: number;
  /** How long equal refusals are counted before they are reported. */
  readonly refusalWindowMs: number;
};

export const defaultLimits: EgressLimits = {
  maxConnections: 256,
  maxDials: 256,
  maxDialsAtHost: 64,
  maxReadHosts: 200,
  maxLookups: 32,
  headMs: 30_000,
  resolveMs: 10_000,
  connectMs: 20_000,
  idleMs: 3_600_000,
  halfClosedMs: 120_000,
  refusalWindowMs: 60_000,
};
