import type { GitChange, GitCommitsPage, GitDiff } from "@convoke/protocol";
import type { BashPage, BashQuery, BashRequest } from "../bash/bash.ts";
import type { ExecutionRequest, ExecutionState, Outcome, SessionSpec, ToolListing } from "../host.ts";
import type { TerminalInfo } from "../tool.ts";
import type { ProcessEnd, ProcessSpec } from "../processes/piped-process.ts";
import type { ListeningPort } from "../processes/listening-ports.ts";
import type { ShellSpec } from "../processes/person-shell.ts";
import type {
  ByteRange,
  DiffBase,
  DirectoryEntry,
  FileStat,
  GitPatchEnds,
  ArchiveFormat,
  LeftOut,
  RepositoryHead,
} from "../workspace/workspace.ts";

/** Protocol version, equal on both sides. Raise it with every incompatible change. */
export const protocolNumber = 2;

/** What the host sends once both sides have proved that they have the key. */
export type Welcome = {
  /** Different in every serving process. */
  readonly bootId: string;
  readonly version: string;
  readonly catalogue: readonly string[];
};

type Handle = { readonly handle: string };
/** The request is confined to `roots`, the innermost last. */
type Path = { readonly path: string; readonly roots?: readonly string[] };

/** Every method with its parameters and its result. */
export type Methods = {
  /** `handle` is the client's name for its hold on the session; reopening takes the hold over. */
  openSession: {
    params: Handle & { readonly spec: SessionSpec };
    /** `recordsId` identifies the directory with the records: in another one earlier calls are unknown. */
    result: { readonly tools: readonly ToolListing[]; readonly recordsId: string };
  };
  closeSession: { params: Handle; result: null };
  execute: {
    params: Handle & { readonly request: ExecutionRequest; readonly isAborted: boolean };
    result: Outcome;
  };
  state: { params: Handle & { readonly actionId: string }; result: ExecutionState };
  cancel: { params: Handle & { readonly actionId: string }; result: null };
  /** Inputs and updates are lines of JSON in the request's streams; the answer follows the last update. */
  attachTerminal: { params: Handle & { readonly name: string }; result: null };
  /** Like `attachTerminal`. Hosts of earlier versions lack this method. */
  attachBrowser: { params: Handle; result: null };
  terminals: { params: Handle; result: readonly TerminalInfo[] };
  stat: { params: Path; result: FileStat };
  list: { params: Path; result: readonly DirectoryEntry[] };
  createDirectory: { params: Path; result: null };
  /** The content follows the answer as chunks with the request's id. */
  readFile: { params: Path & { readonly range?: ByteRange }; result: FileStat };
  /** The content comes as chunks with the request's id; the answer follows when all is written. */
  writeFile: { params: Path; result: null };
  gitChanges: { params: Path & { readonly ref?: string }; result: readonly GitChange[] };
  gitDiff: { params: Path & DiffBase; result: GitDiff };
  /** The patch follows the answer as chunks with the request's id. */
  gitPatch: { params: Path & { readonly ref?: string; readonly leftOut?: LeftOut }; result: GitPatchEnds };
  gitCommits: { params: Path & { readonly limit: number }; result: GitCommitsPage };
  gitCommitChanges: { params: Path & { readonly sha: string }; result: readonly GitChange[] };
  gitRestore: { params: Path & { readonly ref?: string }; result: null };
  /** The content follows the answer. Hosts of earlier versions report nothing about the repository, and know only their own format. */
  archive: {
    params: Path & { readonly exclude: readonly string[]; readonly format: ArchiveFormat };
    result: { readonly repository: RepositoryHead | null; readonly format?: ArchiveFormat } | null;
  };
  home: { params: object; result: string };
  bashStart: { params: { readonly request: BashRequest }; result: string };
  /** An abort stops the waiting, not the command. */
  bashResult: { params: { readonly owner: string; readonly commandId: string }; result: string | null };
  bashStop: { params: { readonly owner: string; readonly commandId: string }; result: boolean };
  bashSearch: { params: { readonly query: BashQuery }; result: BashPage };
  bashGet: {
    params: { readonly owner: string; readonly ids: readonly string[] };
    result: readonly (string | null)[];
  };
  bashClear: { params: { readonly owner: string }; result: number };
  bashLastSeq: { params: object; result: number };
  /** Entries follow as a stream; each batch is one line of JSON. */
  bashFollow: { params: { readonly owner: string; readonly afterSeq: number }; result: null };
  /** Standard input and output are chunks with the request's id; the answer follows the end of the process. */
  runProcess: { params: { readonly spec: ProcessSpec }; result: ProcessEnd };
  /** Hosts of earlier versions lack this method. */
  listPorts: { params: { readonly folder: string }; result: readonly ListeningPort[] };
  /**
   * Inputs are lines of JSON and terminal output is chunks, in the request's streams; the answer is the exit code.
   * Hosts of earlier versions lack this method.
   */
  runShell: { params: { readonly spec: ShellSpec }; result: number };
};

export type Method = keyof Methods;

/** The client's messages after the greeting. */
export type ClientMessage =
  | { readonly id: number; readonly method: Method; readonly params: object }
  /** Stops a request: aborts an execution, which still answers, or ends a stream. */
  | { readonly abort: number }
  | { readonly ping: number }
  | StreamMessage;

/** The host's messages after the welcome. */
export type HostMessage =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: WireError }
  | { readonly id: number; readonly progress: string }
  | { readonly pong: number }
  | StreamMessage;

/** `credit`: this many more bytes of the stream may be sent. `end`: the stream is complete, or broke with `error`. */
export type StreamMessage =
  | { readonly id: number; readonly credit: number }
  | { readonly id: number; readonly end: true; readonly error?: WireError };

export type WireError = {
  readonly code: string;
  readonly message: string;
  /** For an unknown tool. */
  readonly tool?: string;
  readonly available?: readonly string[];
};
