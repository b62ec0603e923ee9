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

/** Both sides must speak the same number; raise it with every change that the other side cannot tolerate. */
export const protocolNumber = 2;

/** What the host says once both sides have shown the key. */
export type Welcome = {
  /** Different in every process that serves. */
  readonly bootId: string;
  readonly version: string;
  readonly catalogue: readonly string[];
};

type Handle = { readonly handle: string };
/** Nothing outside of `roots`, the innermost last, is there for the request. */
type Path = { readonly path: string; readonly roots?: readonly string[] };

/** Every method: what the client sends and what the host answers with. */
export type Methods = {
  /** `handle` is the client's own name for its hold on the session; opening it again takes it over. */
  openSession: {
    params: Handle & { readonly spec: SessionSpec };
    /** `recordsId` names the directory with the records: another one has never heard of earlier calls. */
    result: { readonly tools: readonly ToolListing[]; readonly recordsId: string };
  };
  closeSession: { params: Handle; result: null };
  execute: {
    params: Handle & { readonly request: ExecutionRequest; readonly isAborted: boolean };
    result: Outcome;
  };
  state: { params: Handle & { readonly actionId: string }; result: ExecutionState };
  cancel: { params: Handle & { readonly actionId: string }; result: null };
  /** Inputs come, and updates go, as lines of JSON in the request's streams; the answer follows the last update. */
  attachTerminal: { params: Handle & { readonly name: string }; result: null };
  /** As `attachTerminal`. A host of an earlier version has no such method. */
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
  /** The content follows the answer. A host of an earlier version tells nothing of the repository, and knows no format but its own. */
  archive: {
    params: Path & { readonly exclude: readonly string[]; readonly format: ArchiveFormat };
    result: { readonly repository: RepositoryHead | null; readonly format?: ArchiveFormat } | null;
  };
  home: { params: object; result: string };
  bashStart: { params: { readonly request: BashRequest }; result: string };
  /** Aborting it stops the waiting, not the command. */
  bashResult: { params: { readonly owner: string; readonly commandId: string }; result: string | null };
  bashStop: { params: { readonly owner: string; readonly commandId: string }; result: boolean };
  bashSearch: { params: { readonly query: BashQuery }; result: BashPage };
  bashGet: {
    params: { readonly owner: string; readonly ids: readonly string[] };
    result: readonly (string | null)[];
  };
  bashClear: { params: { readonly owner: string }; result: number };
  bashLastSeq: { params: object; result: number };
  /** Entries follow as a stream: each batch is one line of JSON. */
  bashFollow: { params: { readonly owner: string; readonly afterSeq: number }; result: null };
  /** Standard input comes and standard output goes as chunks with the request's id; the answer follows the end of the process. */
  runProcess: { params: { readonly spec: ProcessSpec }; result: ProcessEnd };
  /** A host of an earlier version has no such method. */
  listPorts: { params: { readonly folder: string }; result: readonly ListeningPort[] };
  /**
   * What a person does comes as lines of JSON and what the terminal prints goes, in the request's streams; the answer is the exit code.
   * A host of an earlier version has no such method.
   */
  runShell: { params: { readonly spec: ShellSpec }; result: number };
};

export type Method = keyof Methods;

/** The client's messages after the greeting. */
export type ClientMessage =
  | { readonly id: number; readonly method: Method; readonly params: object }
  /** Stops a request: aborts an execution, which still answers; ends a stream. */
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

/** `credit`: so many more bytes of this stream may be sent. `end`: the stream is complete, or broke with `error`. */
export type StreamMessage =
  | { readonly id: number; readonly credit: number }
  | { readonly id: number; readonly end: true; readonly error?: WireError };

export type WireError = {
  readonly code: string;
  readonly message: string;
  /** Of an unknown tool. */
  readonly tool?: string;
  readonly available?: readonly string[];
};
