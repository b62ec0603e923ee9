import type { Action, Observation, ToolDefinition } from "@convoke/protocol";
import type { PipedProcess, ProcessSpec } from "./processes/piped-process.ts";
import type { ListeningPort } from "./processes/listening-ports.ts";
import type { PersonShell, ShellSpec } from "./processes/person-shell.ts";
import type { BrowserInput, BrowserUpdate } from "./browser-attachment.ts";
import type { TerminalInput, TerminalUpdate } from "./terminal-attachment.ts";
import type { TerminalInfo, ToolSecret } from "./tool.ts";
import type { ToolTraits } from "./tool-traits.ts";

/** Arguments for opening a session. Opening the same `sessionId` after a restart finds its recorded executions. */
export type SessionSpec = {
  readonly sessionId: string;
  readonly workspaceDir: string;
  readonly stateDir: string;
  /** Names are those of the catalogue (`terminal`, `file_editor`, ...); an unknown one rejects with {@link UnknownToolError}. */
  readonly tools: readonly SessionTool[];
  /** The lease of the caller. When several callers may take over from one another, an older one is rejected with {@link SupersededError}. */
  readonly lease?: SessionLease;
  /** Whether the model receives the images of observations; false unless given. */
  readonly canSee?: boolean;
};

/** Generations are compared within one era: the smaller one is older. */
export type SessionLease = { readonly era: string; readonly generation: number };

export type SessionTool = {
  readonly name: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** Only these tools of a tool set; all of them unless given. */
  readonly members?: readonly string[];
};

/** One tool as a session offers it. */
export type ToolListing = {
  readonly name: string;
  readonly actionKind: string;
  readonly isReadOnly: boolean;
  /** No traits when absent. */
  readonly traits?: ToolTraits;
  readonly definition: ToolDefinition;
  /** JSON Schema of the arguments (no `kind`, no `$ref`), for action kinds that do not define them. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** JSON Schema of further arguments that the model gives for readers of the call; the tool does not receive them. */
  readonly response?: Readonly<Record<string, unknown>>;
  /**
   * What is wrong with arguments that fit the schema, as a text for the model; null for sound ones. It is asked before the call waits
   * for approval. Of tools in the server itself only.
   */
  readonly problemOf?: (values: Readonly<Record<string, unknown>>) => string | null;
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

/** State of an execution. `lost`: started by a process that is gone, so the outcome is unknown. */
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
   * Awaited between the recorded start and the tool, by a host in this process; remote hosts ignore it. Must not reject, and must
   * resolve when the given signal aborts, which stops the call.
   */
  readonly beforeStart?: (signal: AbortSignal) => Promise<void>;
};

/**
 * The tools of a workspace. The start of an execution is durable before the tool runs, and its outcome is recorded before `execute`
 * resolves, so a caller that crashed can ask `state` and never has to guess. A power cut right after that may leave the outcome
 * unknown, like one while the tool runs: so the caller stores the outcome before anyone sees it.
 */
export interface ToolSession extends AsyncDisposable {
  readonly tools: readonly ToolListing[];
  /** Never rejects for a failing tool. A repeated id waits for, or returns, the first outcome; a `lost` execution gives `error`. */
  execute(request: ExecutionRequest, options?: ExecuteOptions): Promise<Outcome>;
  state(actionId: string): Promise<ExecutionState>;
  /**
   * Announces an execution, so that its record is synced while its action is being stored; no execution has to follow.
   * {@link ToolSession.state} ignores it until the execution starts. When nothing proves that it did not start, as after a power cut,
   * its state is `lost`. Remote hosts do nothing.
   */
  announce?(actionId: string, tool: string): void;
  /** Resolves when the execution has ended; no effect when it is not running. */
  cancel(actionId: string): Promise<void>;
  /** The open terminals of the session, by name. */
  terminals(): Promise<readonly TerminalInfo[]>;
  /**
   * Attaches a person to a terminal: the current screen first, then changes, until `signal` aborts, the inputs end or the terminal
   * ends. Rejects when the connection to the host breaks, which also detaches the person.
   */
  attach(
    name: string,
    inputs: AsyncIterable<TerminalInput>,
    signal: AbortSignal,
  ): AsyncIterable<TerminalUpdate>;
  /**
   * Attaches a person to the browser, open or not: its state first, then changes, see `AttachBrowser`. Watching does not open it.
   * Rejects when the connection to the host breaks, which also detaches the person.
   */
  attachBrowser(inputs: AsyncIterable<BrowserInput>, signal: AbortSignal): AsyncIterable<BrowserUpdate>;
}

/** The process that owns workspaces. Disposing it ends every session and every process it started. */
export interface ToolHost extends AsyncDisposable {
  /** Registry keys of the catalogue, sorted. */
  readonly catalogue: readonly string[];
  openSession(spec: SessionSpec): Promise<ToolSession>;
  /** Starts a program that communicates over standard input and output, such as an MCP server. Never throws; see `ended`. */
  startProcess(spec: ProcessSpec): PipedProcess;
  /** Starts a shell for a person in a new terminal. Rejects when it cannot be started. */
  openShell(spec: ShellSpec): Promise<PersonShell>;
  /** Listening ports of programs that the host has started and that work in this folder. */
  listPorts(folder: string): Promise<readonly ListeningPort[]>;
}

/** Another caller with a newer lease has the session, and everything that runs in it. */
export class SupersededError extends Error {
  override readonly name = "SupersededError";

  constructor(message = "Another server works with this session by now; nothing was done for this one.") {
    super(message);
  }
}

/** A tool spec names a tool that is not in the catalogue; `available` lists the known names. */
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
