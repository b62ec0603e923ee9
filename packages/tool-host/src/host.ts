import type { Action, Observation, ToolDefinition } from "@convoke/protocol";
import type { PipedProcess, ProcessSpec } from "./processes/piped-process.ts";
import type { ToolSecret } from "./tool.ts";

/** What a session is opened with; opening the same `sessionId` again after a restart finds its recorded executions. */
export type SessionSpec = {
  readonly sessionId: string;
  readonly workspaceDir: string;
  readonly stateDir: string;
  /** Names are those of the catalogue (`terminal`, `file_editor`, ...); an unknown one rejects with {@link UnknownToolError}. */
  readonly tools: readonly { readonly name: string; readonly params?: Readonly<Record<string, unknown>> }[];
};

/** One tool as a session offers it. */
export type ToolListing = {
  readonly name: string;
  readonly actionKind: string;
  readonly isReadOnly: boolean;
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
};

/**
 * A workspace's tools. The start of an execution is durable before the tool runs, its outcome is durable before
 * `execute` resolves, so a caller that crashed can ask `state` and never has to guess.
 */
export interface ToolSession extends AsyncDisposable {
  readonly tools: readonly ToolListing[];
  /** Never rejects for a failing tool. A second call with a known id waits for, or returns, the first one's outcome; a `lost` one gives `error`. */
  execute(request: ExecutionRequest, options?: ExecuteOptions): Promise<Outcome>;
  state(actionId: string): Promise<ExecutionState>;
  /** Resolves when the execution has ended; does nothing when it is not running. */
  cancel(actionId: string): Promise<void>;
}

/** The process that owns workspaces. Disposing it ends every session and every process it started. */
export interface ToolHost extends AsyncDisposable {
  /** Registry keys of the catalogue, sorted. */
  readonly catalogue: readonly string[];
  openSession(spec: SessionSpec): Promise<ToolSession>;
  /** Starts a program that speaks over its standard input and output, e.g. an MCP server; never throws, `ended` tells. */
  startProcess(spec: ProcessSpec): PipedProcess;
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
