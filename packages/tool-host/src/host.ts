import type { Action, Observation, ToolDefinition } from "@convoke/protocol";
import type { PipedProcess, ProcessSpec } from "./processes/piped-process.ts";
import type { ListeningPort } from "./processes/listening-ports.ts";
import type { PersonShell, ShellSpec } from "./processes/person-shell.ts";
import type { BrowserInput, BrowserUpdate } from "./browser-attachment.ts";
import type { TerminalInput, TerminalUpdate } from "./terminal-attachment.ts";
import type { TerminalInfo, ToolSecret } from "./tool.ts";
import type { ToolTraits } from "./tool-traits.ts";

/** What a session is opened with; opening the same `sessionId` again after a restart finds its recorded executions. */
export type SessionSpec = {
  readonly sessionId: string;
  readonly workspaceDir: string;
  readonly stateDir: string;
  /** Names are those of the catalogue (`terminal`, `file_editor`, ...); an unknown one rejects with {@link UnknownToolError}. */
  readonly tools: readonly SessionTool[];
  /** For whom it is opened: where several may take it over from one another, one of the past is refused with {@link SupersededError}. */
  readonly lease?: SessionLease;
  /** Whether the model is shown the pictures of observations; false unless given. */
  readonly canSee?: boolean;
};

/** Generations of one era are compared: of two the smaller one is of the past. */
export type SessionLease = { readonly era: string; readonly generation: number };

export type SessionTool = {
  readonly name: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** Of a tool set these alone; all of them unless given. */
  readonly members?: readonly string[];
};

/** One tool as a session offers it. */
export type ToolListing = {
  readonly name: string;
  readonly actionKind: string;
  readonly isReadOnly: boolean;
  /** None when absent. */
  readonly traits?: ToolTraits;
  readonly definition: ToolDefinition;
  /** JSON Schema of the arguments (no `kind`, no `$ref`) where the action kind does not say them. */
  readonly parameters?: Readonly<Record<string, unknown>>;
};

export type ExecutionRequest = {
  /** Id of the ActionEvent; executing the same id twice never runs twice. */
  readonly actionId: string;
  readonly tool: string;
  readonly action: Action;
  readonly secrets: readonly ToolSecret[];
};

/** How an execution ended. `error` and `cancelled` become AgentErrorEvents; `text` is safe to show to the model. */
export type Outcome =
  | { readonly type: "observation"; readonly observation: Observation }
  | { readonly type: "error"; readonly text: string }
  | { readonly type: "cancelled"; readonly text: string };

/** What the host knows of an execution. `lost`: it was started by a process that is gone, the outcome is unknown. */
export type ExecutionState =
  | { readonly type: "unknown" }
  | { readonly type: "running" }
  | { readonly type: "lost" }
  | { readonly type: "finished"; readonly outcome: Outcome };

export type ExecuteOptions = {
  /** Aborting asks the tool to stop; the promise still resolves, with `cancelled` or the outcome that won. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (text: string) => void;
  /**
   * Waited for between the record of the start and the tool, by a host in this process; one elsewhere does not know of it. Must not reject, and
   * must resolve when the given signal aborts, which stops the call.
   */
  readonly beforeStart?: (signal: AbortSignal) => Promise<void>;
};

/**
 * A workspace's tools. The start of an execution is durable before the tool runs, its outcome is recorded before `execute` resolves, so
 * a caller that crashed can ask `state` and never has to guess. A power cut within the next moment may leave the outcome unknown, as one
 * while the tool runs does: the caller stores it before anyone sees it.
 */
export interface ToolSession extends AsyncDisposable {
  readonly tools: readonly ToolListing[];
  /** Never rejects for a failing tool. A second call with a known id waits for, or returns, the first one's outcome; a `lost` one gives `error`. */
  execute(request: ExecutionRequest, options?: ExecuteOptions): Promise<Outcome>;
  state(actionId: string): Promise<ExecutionState>;
  /**
   * Says that this call is about to be executed, which nothing has to come of: the disk takes its record while its action is being stored.
   * {@link ToolSession.state} does not know of it until it begins; once nothing proves that it did not, as after a power cut, it is `lost`.
   * A host elsewhere has no such thing.
   */
  announce?(actionId: string, tool: string): void;
  /** Resolves when the execution has ended; does nothing when it is not running. */
  cancel(actionId: string): Promise<void>;
  /** The terminals that are open in it, by name. */
  terminals(): Promise<readonly TerminalInfo[]>;
  /**
   * Attaches a person to a terminal: the screen as it is, then what happens, until `signal` aborts, the inputs end or the terminal does.
   * Rejects when the connection to the host breaks; the person is detached then too.
   */
  attach(
    name: string,
    inputs: AsyncIterable<TerminalInput>,
    signal: AbortSignal,
  ): AsyncIterable<TerminalUpdate>;
  /**
   * Attaches a person to the browser, which need not be open: how it stands, then what it shows, see `AttachBrowser`. Nothing is opened
   * by watching. Rejects when the connection to the host breaks; the person is detached then too.
   */
  attachBrowser(inputs: AsyncIterable<BrowserInput>, signal: AbortSignal): AsyncIterable<BrowserUpdate>;
}

/** The process that owns workspaces. Disposing it ends every session and every process it started. */
export interface ToolHost extends AsyncDisposable {
  /** Registry keys of the catalogue, sorted. */
  readonly catalogue: readonly string[];
  openSession(spec: SessionSpec): Promise<ToolSession>;
  /** Starts a program that speaks over its standard input and output, e.g. an MCP server; never throws, `ended` tells. */
  startProcess(spec: ProcessSpec): PipedProcess;
  /** Starts a shell for a person, on a terminal of its own. Rejects where it cannot be started. */
  openShell(spec: ShellSpec): Promise<PersonShell>;
  /** The ports that programs listen on which it has started and which work in this folder. */
  listPorts(folder: string): Promise<readonly ListeningPort[]>;
}

/** Somebody else works with the session, with a later lease. What runs in it is theirs. */
export class SupersededError extends Error {
  override readonly name = "SupersededError";

  constructor(message = "Another server works with this session by now; nothing was done for this one.") {
    super(message);
  }
}

/** A tool spec names a tool that the catalogue does not have; `available` lists those it has. */
export class UnknownToolError extends Error {
  override readonly name = "UnknownToolError";
  readonly tool: string;
  readonly available: readonly string[];

  constructor(tool: string, available: readonly string[]) {
    super(`Unknown tool "${tool}". Available tools: ${available.join(", ")}.`);
    this.tool = tool;
    this.available = available;
  }
}
