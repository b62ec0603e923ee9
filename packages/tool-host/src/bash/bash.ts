import type { ToolSecret } from "../tool.ts";

/** A command that a person runs, independently of the agent. */
export type BashRequest = {
  /** 32 hex digits, chosen by the caller. A repeated request with the same id starts nothing. */
  readonly id: string;
  /** The owner of the command; invisible to other owners. */
  readonly owner: string;
  readonly command: string;
  /** Absolute path. */
  readonly cwd: string;
  readonly timeoutSeconds: number;
  /** Masked in outputs and in the recorded command. */
  readonly secrets: readonly ToolSecret[];
};

/** One recorded event; `json` is a BashCommand or BashOutput exactly as sent on the wire. */
export type BashEntry = { readonly seq: number; readonly id: string; readonly json: string };

/** Filters, combined with AND. Instants are microseconds since the epoch. */
export type BashQuery = {
  readonly owner: string;
  readonly kind?: "BashCommand" | "BashOutput" | undefined;
  readonly commandId?: string | undefined;
  readonly fromMicros?: number | undefined;
  readonly beforeMicros?: number | undefined;
  /** Only outputs with a higher order. Commands have no order and always match. */
  readonly orderAbove?: number | undefined;
  readonly isDescending: boolean;
  /** Id of the first event of this page. */
  readonly pageId?: string | undefined;
  readonly limit: number;
};

export type BashPage = { readonly items: readonly string[]; readonly nextPageId: string | null };

/**
 * Runs commands for people, each in a fresh `/bin/sh -c` without input, and records them. Output is recorded while a command
 * runs. A command has ended when its shell has; its background processes live on until disposal.
 */
export interface Bash extends AsyncDisposable {
  /** Resolves with the recorded BashCommand. Rejects with a WorkspaceError `too-many-commands`. */
  start(request: BashRequest): Promise<string>;
  /** Waits for the end. Returns one BashOutput with the whole output, its middle cut when it is long; null for an unknown command. */
  result(owner: string, commandId: string, signal?: AbortSignal): Promise<string | null>;
  /** Ends a command and everything it started. Resolves when it has ended, also if it had before. False for an unknown command. */
  stop(owner: string, commandId: string): Promise<boolean>;
  /** Rejects with a WorkspaceError `unknown-page`. */
  search(query: BashQuery): Promise<BashPage>;
  /** In the order of `ids`; null for unknown ids. */
  get(owner: string, ids: readonly string[]): Promise<readonly (string | null)[]>;
  /** Deletes the owner's events and returns their number. Running commands continue. */
  clear(owner: string): Promise<number>;
  /** The `seq` of the newest event. */
  lastSeq(): Promise<number>;
  /** Yields the owner's events after a cursor, each once, until the signal aborts. */
  follow(owner: string, afterSeq: number, signal: AbortSignal): AsyncIterable<readonly BashEntry[]>;
}
