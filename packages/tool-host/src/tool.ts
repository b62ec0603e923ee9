import type { Action, Observation, ToolDefinition } from "@convoke/protocol";
import type { AttachBrowser } from "./browser-attachment.ts";
import type { AttachTerminal } from "./terminal-attachment.ts";
import type { ToolTraits } from "./tool-traits.ts";

/** Everything a tool may know about the place it works in. Tools read nothing from `process.env`. */
export type ToolContext = {
  /** Stable for the life of a conversation, across restarts. */
  readonly sessionId: string;
  /** Absolute path of the directory the agent works in; exists. */
  readonly workspaceDir: string;
  /** Absolute path of a private directory that survives restarts (full outputs, task lists); exists. */
  readonly stateDir: string;
  /** The allow-listed environment that children start with; with it they end with the host, even after `kill -9`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Free-form tool parameters from the agent's tool spec. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Whether the model is shown the pictures of observations. */
  readonly canSee: boolean;
};

/** One secret of the conversation: exported when a command names it, masked in every output. */
export type ToolSecret = { readonly name: string; readonly value: string };

/** What one execution gets besides the action itself. */
export type ToolCall = {
  readonly actionId: string;
  /** The name that was called: which face of a set. */
  readonly tool: string;
  /** Aborts when the execution is cancelled: stop, settle, and return or throw within two seconds. */
  readonly signal: AbortSignal;
  readonly secrets: readonly ToolSecret[];
  /** Ephemeral output for live display; already masked by the caller of this function's owner. */
  readonly onProgress: (text: string) => void;
};

/** A tool opened for one session. Calls for one instance never overlap, except those of a tool that only reads. */
export interface ToolInstance extends AsyncDisposable {
  /** The terminals that are open in it; none unless given. */
  terminals?(): readonly TerminalInfo[];
  /** How a person is attached to the terminal with this name; undefined where there is none. */
  terminal?(name: string): AttachTerminal | undefined;
  /** How a person is attached to its browser, where it has one. */
  readonly browser?: AttachBrowser;
  /** Resolves with an observation (`is_error` for a failure the tool reports); throws only {@link ToolInputError} or on a bug. */
  execute(action: Action, call: ToolCall): Promise<Observation>;
}

/** One terminal of a conversation, as it is now. */
export type TerminalInfo = {
  /** `main` is that of the tool `terminal`. */
  readonly name: string;
  /** What runs in it, or what ran last, in one line and masked; null before the first command. */
  readonly command: string | null;
  /** When it was started, in milliseconds since 1970; null before the first command. */
  readonly startedAtMs: number | null;
  readonly isRunning: boolean;
  /** Of the last command that has ended; null before, and while one runs. */
  readonly exitCode: number | null;
  /** True while a person has it. */
  readonly isLent: boolean;
  /** True when what runs in it is worth keeping it open for, though nobody waits. */
  readonly isKept: boolean;
};

/** One thing that the model can call: what it and the event log see of it. */
export interface ToolFace {
  /** The name the model calls, e.g. `terminal`. */
  readonly name: string;
  /** Kind name of the actions it takes, e.g. `TerminalAction`. */
  readonly actionKind: string;
  /** True when an execution can neither change anything nor be harmed by running twice. */
  readonly isReadOnly: boolean;
  /** What the server must know of its calls beyond that; nothing unless given. */
  traits?(context: ToolContext): ToolTraits;
  /** JSON Schema of the arguments (no `kind`, no `$ref`) where the action kind does not say them. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** The wire form listed in SystemPromptEvent; its description may name the workspace. */
  define(context: ToolContext): ToolDefinition;
}

/** A tool that shows one face: how it is listed, and how it is opened. */
export interface Tool extends ToolFace {
  /** The name of the terminal that it is: a person can be attached before the agent has used it. */
  readonly terminal?: string;
  open(context: ToolContext): Promise<ToolInstance>;
}

/** One opened thing with several faces. All calls go through one queue, those that only read included, unless `queueOf` parts them. */
export interface ToolSet {
  /** What an agent asks for; the model never sees it. */
  readonly name: string;
  readonly faces: readonly ToolFace[];
  /** True where what it opens has a browser, whether or not the agent has used it. */
  readonly hasBrowser?: true;
  /** False where it needs what this machine does not have: then it is in no catalogue. */
  isUsable?(environment: Readonly<Record<string, string>>): boolean;
  /** Calls with different queues run side by side; null waits for nobody. */
  queueOf?(tool: string, action: Action): string | null;
  open(context: ToolContext): Promise<ToolInstance>;
  /** Ends what the sessions of one host share; comes once, after all of them are closed. */
  close?(): Promise<void>;
}

/** What of a tool the model can call, in order. */
export function facesOf(tool: Tool | ToolSet): readonly ToolFace[] {
  return "faces" in tool ? tool.faces : [tool];
}

/** The caller's arguments are wrong in a way that the schema cannot express; the model sees the message and can correct itself. */
export class ToolInputError extends Error {
  override readonly name = "ToolInputError";
}
