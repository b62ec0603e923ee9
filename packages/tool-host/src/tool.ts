import type { Action, Observation, ToolDefinition } from "@convoke/protocol";

/** Everything a tool may know about the place it works in. Tools read nothing from `process.env`. */
export type ToolContext = {
  /** Stable for the life of a conversation, across restarts. */
  readonly sessionId: string;
  /** Absolute path of the directory the agent works in; exists. */
  readonly workspaceDir: string;
  /** Absolute path of a private directory that survives restarts (full outputs, task lists); exists. */
  readonly stateDir: string;
  /** The allow-listed environment that children start with. */
  readonly environment: Readonly<Record<string, string>>;
  /** Free-form tool parameters from the agent's tool spec. */
  readonly params: Readonly<Record<string, unknown>>;
};

/** One secret of the conversation: exported when a command names it, masked in every output. */
export type ToolSecret = { readonly name: string; readonly value: string };

/** What one execution gets besides the action itself. */
export type ToolCall = {
  readonly actionId: string;
  /** Aborts when the execution is cancelled: stop, settle, and return or throw within two seconds. */
  readonly signal: AbortSignal;
  readonly secrets: readonly ToolSecret[];
  /** Ephemeral output for live display; already masked by the caller of this function's owner. */
  readonly onProgress: (text: string) => void;
};

/** A tool opened for one session. Calls for one instance never overlap, except those of a tool that only reads. */
export interface ToolInstance extends AsyncDisposable {
  /** Resolves with an observation (`is_error` for a failure the tool reports); throws only {@link ToolInputError} or on a bug. */
  execute(action: Action, call: ToolCall): Promise<Observation>;
}

/** The static side of a tool: what the model and the event log see, and how to open it. */
export interface Tool {
  /** The name the model calls, e.g. `terminal`. */
  readonly name: string;
  /** Kind name of the actions it takes, e.g. `TerminalAction`. */
  readonly actionKind: string;
  /** True when an execution can neither change anything nor be harmed by running twice. */
  readonly isReadOnly: boolean;
  /** The wire form listed in SystemPromptEvent; its description may name the workspace. */
  define(context: ToolContext): ToolDefinition;
  open(context: ToolContext): Promise<ToolInstance>;
}

/** The caller's arguments are wrong in a way that the schema cannot express; the model sees the message and can correct itself. */
export class ToolInputError extends Error {
  override readonly name = "ToolInputError";
}
