import type { ToolSecret } from "../tool.ts";

/** A command that a person runs beside the agent. */
export type BashRequest = {
  /** 32 hex digits, the caller's choice: a request that is sent again with the same id starts nothing. */
  readonly id: string;
  /** Whose command it is; nobody else sees it. */
  readonly owner: string;
  readonly command: string;
  /** Absolute. */
  readonly cwd: string;
  readonly timeoutSeconds: number;
  /** Hidden wherever they show, in the command too. */
  readonly secrets: readonly ToolSecret[];
};

/** One recorded event; `json` is a BashCommand or a BashOutput of the wire, as it goes out. */
export type BashEntry = { readonly seq: number; readonly id: string; readonly json: string };

/** Every field narrows; instants are microseconds since the epoch. */
export type BashQuery = {
  readonly owner: string;
  readonly kind?: "BashCommand" | "BashOutput";
  readonly commandId?: string;
  readonly fromMicros?: number;
  readonly beforeMicros?: number;
  /** Only outputs with a higher order; commands, which have none, stay. */
  readonly orderAbove?: number;
  readonly isDescending: boolean;
  /** Id of the first event of this page. */
  readonly pageId?: string;
  readonly limit: number;
};

export type BashPage = { readonly items: readonly string[]; readonly nextPageId: string | null };

/**
 * Commands beside the agent, each a fresh `/bin/sh -c` without input, and the record of them. What a running command prints is
 * recorded while it runs. A command has ended when its shell has; what it left in the background lives on until disposal.
 */
export interface Bash extends AsyncDisposable {
  /** Resolves with the recorded BashCommand. Rejects with a WorkspaceError `too-many-commands`. */
  start(request: BashRequest): Promise<string>;
  /** Waits for the end; one BashOutput with everything the command printed, its middle left out when it is long. Null when it is not there. */
  result(owner: string, commandId: string, signal?: AbortSignal): Promise<string | null>;
  /** Ends a command with all it started; resolves when it has ended, also one that had already. False when it is not there. */
  stop(owner: string, commandId: string): Promise<boolean>;
  /** Rejects with a WorkspaceError `unknown-page`. */
  search(query: BashQuery): Promise<BashPage>;
  /** In the order of `ids`, null for misses. */
  get(owner: string, ids: readonly string[]): Promise<readonly (string | null)[]>;
  /** Forgets the owner's events, running commands go on; how many there were. */
  clear(owner: string): Promise<number>;
  /** The `seq` of the newest event. */
  lastSeq(): Promise<number>;
  /** The owner's events after a cursor, for ever, each once, until the signal aborts. */
  follow(owner: string, afterSeq: number, signal: AbortSignal): AsyncIterable<readonly BashEntry[]>;
}
