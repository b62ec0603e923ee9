import type { Duplex } from "node:stream";
import type { NetworkPolicy } from "@convoke/protocol";
import type { RemoteToolHost } from "@convoke/tool-host";

/** What must hold for as long as the sandbox lives; the guide says which backend enforces which. */
export type SandboxLimits = {
  readonly memoryMb: number;
  /** Processors, may be a fraction. */
  readonly cpus: number;
  /** Processes and threads. */
  readonly pids: number;
  /** Space in private temporary directories. */
  readonly diskMb?: number;
};

/** The request for a sandbox; stored for its lifetime, so that it can be restarted. */
export type SandboxSpec = {
  /** Lower-case letters, digits and `-`, at most 40: it becomes part of file, process and container names. */
  readonly id: string;
  /** Absolute directory on this machine; the only one that the sandbox shares with it. */
  readonly workspaceDir: string;
  /** What the tool host's environment has besides `PATH`, `HOME`, `LANG` and the like; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: SandboxLimits;
  /** `on`: a way out through the server's proxy, which decides what passes; where nothing is isolated, the machine's network. */
  readonly network: "none" | "on";
  /** What passes there; the server's present policy unless given. */
  readonly policy?: NetworkPolicy | undefined;
  /** Container image; backends without images refuse it. */
  readonly image?: string | undefined;
  /** Name of the engine's runtime for the container, such as `runsc`; the engine's default unless given. Backends without containers refuse it. */
  readonly runtime?: string | undefined;
  /** Id of the operator's spec that it was made from; none where the server's settings alone decided. */
  readonly specId?: string | undefined;
  /** Those of its user's secrets that may enter; all of them unless given. */
  readonly secretNames?: readonly string[] | undefined;
};

/** The progress of a start; reported at least every two seconds. */
export type StartPhase = "preparing" | "fetching" | "launching" | "connecting";
export type StartProgress = {
  readonly phase: StartPhase;
  /** For people, e.g. bytes of an image. */
  readonly detail?: string;
};

/** Secrets of one sandbox, each made from that of its row: never in arguments, environments or records. */
export type SandboxKeys = {
  /** Opens its tool host. */
  readonly toolHost: string;
  /** What the key of the authority is made from that its programs trust. Never inside, not even with the tool host. */
  readonly authority: string;
};

export type StartOrder = {
  readonly spec: SandboxSpec;
  readonly keys: SandboxKeys;
  readonly onProgress: (progress: StartProgress) => void;
  /** Aborting a start leaves nothing of it but the sandbox's files. */
  readonly signal: AbortSignal;
};

/** What a backend needs to find a running sandbox again after a restart of the server: JSON, no secrets. */
export type SandboxRecord = { readonly backend: string } & Readonly<Record<string, unknown>>;

/**
 * `silent`: its tool host is there and does not answer, perhaps because it is busy. `stopped`: its tool host ended but files are
 * left, so it can be started again. `missing`: nothing is left.
 */
export type SandboxHealth = {
  readonly state: "running" | "paused" | "silent" | "stopped" | "missing";
  readonly detail: string | null;
};

/** One sandbox that was started. Dropping a handle changes nothing: the sandbox lives until it is stopped or deleted. */
export interface SandboxHandle {
  readonly id: string;
  readonly record: SandboxRecord;
  /** Absolute path of the workspace as the tool host sees it. */
  readonly workspaceDir: string;
  /** Absolute directory, as the tool host sees it, for the state directories of sessions; survives stops. */
  readonly stateDir: string;
  /** Where its tool host listens on this machine: `unix:/path`. */
  readonly toolHostAddress: string;
  /** A new connection to the tool host, which outlives it. Rejects while paused or stopped. */
  connect(): Promise<RemoteToolHost>;
  /** Freezes every process; memory and files stay. Does nothing when it is paused. */
  pause(): Promise<void>;
  /** Resolves when a command can run again. */
  resume(): Promise<void>;
  /** Ends every process and keeps the files; the same spec can be started again. */
  stop(): Promise<void>;
  health(): Promise<SandboxHealth>;
  /** Empties its log where that became too long; where a container engine bounds it, there is nothing to do. */
  boundLog?(): Promise<void>;
  /** The last `maxBytes` of what the tool host printed. */
  logs(maxBytes: number): Promise<string>;
  /** A byte stream to a TCP port inside, e.g. to proxy to a web server; rejects with the reason when there is no way in. */
  connectPort(port: number): Promise<Duplex>;
}

/** One way of isolating. */
export interface SandboxBackend {
  readonly name: string;
  /** How long a start may take unless configured, in milliseconds. */
  readonly startDeadlineMs: number;
  /** Starts a sandbox, or starts it again over the files that a stop or a crash left. Rejects with {@link SandboxError}. */
  start(order: StartOrder): Promise<SandboxHandle>;
  /** The sandbox of a record when it is still there, running or paused, with its way out open again; otherwise null. `policy`: of its spec. */
  reattach(record: SandboxRecord, keys: SandboxKeys, policy?: NetworkPolicy): Promise<SandboxHandle | null>;
  /** Ids of all sandboxes of this installation that anything is left of: processes, containers, directories. */
  listOwned(): Promise<readonly string[]>;
  /** Removes everything with this id except a workspace that lies outside the sandbox's own directory. Idempotent, in every state. */
  remove(id: string): Promise<void>;
}

/** A sandbox could not do what was asked, for a reason that its user can understand. */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
}

const idPattern = /^[a-z0-9][a-z0-9-]{0,39}$/;

export function isSandboxId(text: string): boolean {
  return idPattern.test(text);
}
