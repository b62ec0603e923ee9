import type { Duplex } from "node:stream";
import type { SandboxStatus } from "@convoke/protocol";
import type { RemoteToolHost } from "@convoke/tool-host";
import type { BoundSecret, HostTotals, RefusalsSince } from "../egress/egress.ts";

/** A sandbox as its owner sees it. */
export type SandboxView = {
  readonly id: string;
  readonly ownerId: string;
  readonly templateId: string;
  readonly status: SandboxStatus;
  /** What a start is doing, or why the sandbox is not running. */
  readonly statusDetail: string | null;
  /** Those of its owner's secrets that may enter; all of them unless given. */
  readonly secretNames?: readonly string[] | undefined;
  readonly createdAtMs: number;
  /** It is on a machine that no server lives on: what is known of it may have changed. */
  readonly isUnavailable?: true;
};

/** What sandboxes are made from. */
export type SandboxTemplate = {
  /** A short name that stays, e.g. `bubblewrap`, or that of an operator's spec. */
  readonly id: string;
  /** For people; null where nobody wrote one. */
  readonly description: string | null;
  /** Of the container engine, such as `runsc`; null for the engine's own. */
  readonly runtime: string | null;
  /** Those of a user's secrets that may enter; all of them unless given. */
  readonly secretNames?: readonly string[] | undefined;
  /** What is between a sandbox and the machine. */
  readonly isolation: "none" | "namespaces" | "container";
  readonly environment: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
};

export type SandboxPageQuery = {
  readonly limit: number;
  /** Id of the first sandbox of this page. */
  readonly pageId?: string | undefined;
};

/**
 * The sandboxes of all users. Every call names whom it is for: what belongs to somebody else is not there. Reads answer from
 * what is known and wait for no sandbox.
 */
export interface SandboxService {
  /** Never empty; the first is the default. */
  readonly templates: readonly SandboxTemplate[];
  /** What the default one is and isolates, in one line for people. */
  readonly summary: string;
  /**
   * Resolves once the sandbox is written down, usually in `STARTING`. Asked again with the id of one of the owner's sandboxes, it
   * answers with that one, so that a start can be repeated.
   */
  start(ownerId: string, templateId: string, id?: string): Promise<SandboxView>;
  /**
   * The id of a warm sandbox that `start` will return for it; null when none is ready. It is
   * nobody else's from here on, until {@link unreserve}.
   */
  reserve(templateId: string): string | null;
  /** Does nothing for one that was given meanwhile. */
  unreserve(id: string): void;
  /** In the order of `ids`, null for misses. */
  getMany(ownerId: string, ids: readonly string[]): Promise<readonly (SandboxView | null)[]>;
  /** Newest first. Rejects with UnknownPageError for a page id that is none of the owner's sandboxes. */
  search(
    ownerId: string,
    query: SandboxPageQuery,
  ): Promise<{ readonly items: readonly SandboxView[]; readonly nextPageId: string | null }>;
  /** False when the owner has no such sandbox, as for the next two. Does nothing when it is paused. */
  pause(ownerId: string, id: string): Promise<boolean>;
  /** Makes it run again, also after a failure. */
  resume(ownerId: string, id: string): Promise<boolean>;
  /** Works in every state. */
  remove(ownerId: string, id: string): Promise<boolean>;
}

/** Paths are the sandbox's own. */
export type SandboxPlace = {
  /** Absolute. */
  readonly workspaceDir: string;
  /** Absolute directory for the state of sessions. */
  readonly stateDir: string;
};

/** Where the tools of a conversation in a sandbox run. */
export type SandboxHost = SandboxPlace & {
  /** Shared by all who ask; its owner closes it. */
  readonly toolHost: RemoteToolHost;
};

/** The inside of sandboxes, for who has found out already whose they are. */
export interface SandboxAccess {
  /** Waits for a start that is under way. Rejects with a Fault `not-now` while the sandbox is paused or has failed. */
  openHost(id: string): Promise<SandboxHost>;
  /** A byte stream to a TCP port inside. */
  connectPort(id: string, port: number): Promise<Duplex>;
  /** What the next three tell may concern a sandbox of another machine: they know it from here on. Resolves also when there is none. */
  learn(id: string): Promise<void>;
  /** The key that opens this sandbox's own surface and nothing else; null when there is no such sandbox. */
  sessionKey(id: string): string | null;
  /** The key that leads to this sandbox's ports and nowhere else; it stands in addresses. */
  portKey(id: string): string | null;
  /** True when the server's proxy is its way out; false also for one of which nothing is known yet. */
  hasWayOut(id: string): boolean;
  /**
   * What a conversation in the sandbox was granted, written as in `allow` of a policy: everything in it reaches these hosts from here on.
   * Replaces what was set for that conversation before. Does nothing for a sandbox without a way out.
   */
  setGrants(id: string, conversationId: string, hosts: readonly string[]): Promise<void>;
  /**
   * What a conversation in the sandbox has bound to hosts, for the process that manages the sandbox, where that is another one. Replaces what was
   * sent for that conversation before.
   */
  sendSecrets(id: string, conversationId: string, secrets: readonly BoundSecret[]): Promise<void>;
  /** What was refused on its way out since a mark, in words for the agent; 0 for all. Nothing where nobody can tell. */
  refusalsSince(id: string, mark: number): Promise<RefusalsSince>;
  /** What passed and was refused on its way out, by host and port. */
  totals(id: string): Promise<readonly HostTotals[]>;
  /** Whose sandbox it is; null when there is none. */
  ownerOf(id: string): string | null;
  /** Of all owners. */
  countByStatus(): Promise<ReadonlyMap<SandboxStatus, number>>;
}

/** All that a server knows of sandboxes. Closing it lets go of them: they live on. */
export interface Sandboxes extends SandboxService, SandboxAccess, AsyncDisposable {}
