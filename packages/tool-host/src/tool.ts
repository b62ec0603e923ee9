import type { Action, Observation, ToolDefinition } from "@convoke/protocol";
import type { AttachBrowser } from "./browser-attachment.ts";
import type { AttachTerminal } from "./terminal-attachment.ts";
import type { ToolTraits } from "./tool-traits.ts";

/** What a tool may know about its environment. Tools read nothing from `process.env`. */
export type ToolContext = {
  /** Stable for the life of a conversation, across restarts. */
  readonly sessionId: string;
  /** Absolute path of the directory the agent works in; exists. */
  readonly workspaceDir: string;
  /** Absolute path of a private directory that survives restarts (full outputs, task lists); exists. */
  readonly stateDir: string;
  /** The allow-listed environment for child processes; its marker ends them with the host, even after `kill -9`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Free-form tool parameters from the agent's tool spec. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Whether the model receives the images of observations. */
  readonly canSee: boolean;
};

/**
 * One secret of the conversation: exported when a command names it, masked in every output. A placeholder stands for a value that is put
 * into requests outside of the tools' wall: it is exported as well, and stays readable, because it is no secret.
 */
export type ToolSecret = { readonly name: string; readonly value: string; readonly isPlaceholder?: true };

/** What one execution gets besides the action itself. */
export type ToolCall = {
  readonly actionId: string;
  /** The name that was called, which selects the tool of a set. */
  readonly tool: string;
  /** Aborts when the execution is cancelled: stop, settle, and return or throw within two seconds. */
  readonly signal: AbortSignal;
  readonly secrets: readonly ToolSecret[];
  /** Emits ephemeral output for live display; the caller masks it. */
  readonly onProgress: (text: string) => void;
};

/** A tool opened for one session. Calls of one instance never overlap, except those of a read-only tool. */
export interface ToolInstance extends AsyncDisposable {
  /** Its open terminals; none unless given. */
  terminals?(): readonly TerminalInfo[];
  /** Attaches a person to the terminal with this name; undefined when there is none. */
  terminal?(name: string): AttachTerminal | undefined;
  /** Attaches a person to its browser, if it has one. */
  readonly browser?: AttachBrowser;
  /** Resolves with an observation (`is_error` for a failure the tool reports); throws only {@link ToolInputError} or on a bug. */
  execute(action: Action, call: ToolCall): Promise<Observation>;
}

/** State of one terminal of a conversation. */
export type TerminalInfo = {
  /** `main` for the terminal of the tool `terminal`. */
  readonly name: string;
  /** The running or last command, in one line and masked; null before the first command. */
  readonly command: string | null;
  /** When that command was started, in milliseconds since 1970; null before the first command. */
  readonly startedAtMs: number | null;
  readonly isRunning: boolean;
  /** Exit code of the last command; null before the first one, and while one runs. */
  readonly exitCode: number | null;
  /** True while a person has control. */
  readonly isLent: boolean;
  /** True when the running command is a reason to keep the terminal open although no call waits for it. */
  readonly isKept: boolean;
};

/** One function that the model can call, as the model and the event log see it. */
export interface ToolFace {
  /** The name the model calls, e.g. `terminal`. */
  readonly name: string;
  /** Kind of its actions, e.g. `TerminalAction`. */
  readonly actionKind: string;
  /** True when an execution can neither change anything nor be harmed by running twice. */
  readonly isReadOnly: boolean;
  /** What else the server must know about its calls; nothing unless given. */
  traits?(context: ToolContext): ToolTraits;
  /** JSON Schema of the arguments (no `kind`, no `$ref`), for action kinds that do not define them. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** The wire form listed in SystemPromptEvent; its description may name the workspace. */
  define(context: ToolContext): ToolDefinition;
}

/** A tool with one function: how it is listed and opened. */
export interface Tool extends ToolFace {
  /** The name of its terminal: a person can attach before the agent has used it. */
  readonly terminal?: string;
  open(context: ToolContext): Promise<ToolInstance>;
}

/** A tool with several functions that share one instance. All calls, including read-only ones, use one queue, unless `queueOf` splits them. */
export interface ToolSet {
  /** The name that an agent configures; the model never sees it. */
  readonly name: string;
  readonly faces: readonly ToolFace[];
  /** True when its instance has a browser, whether or not the agent has used it. */
  readonly hasBrowser?: true;
  /** False when this machine lacks what it needs: then no catalogue lists it. */
  isUsable?(environment: Readonly<Record<string, string>>): boolean;
  /** Calls with different queues run concurrently; null waits for no other call. */
  queueOf?(tool: string, action: Action): string | null;
  open(context: ToolContext): Promise<ToolInstance>;
  /** Releases what the sessions of one host share; called once, after all of them are closed. */
  close?(): Promise<void>;
}

/** The functions that the model can call, in order. */
export function facesOf(tool: Tool | ToolSet): readonly ToolFace[] {
  return "faces" in tool ? tool.faces : [tool];
}

/** The caller's arguments are wrong in a way that the schema cannot express; the model sees the message and can correct itself. */
export class ToolInputError extends Error {
  override readonly name = "ToolInputError";
}
