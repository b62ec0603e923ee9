import type {
  ContentBlock,
  RequestPermissionOutcome,
  RequestPermissionRequest,
  SessionUpdate,
  StopReason,
} from "@agentclientprotocol/sdk";
import type { AcpModels } from "./acp-models.ts";
import type { Permissions } from "./permissions.ts";

/** A call of the agent as it is recorded: of its own tools, or of what it asks us to do. */
export type RecordedCall = {
  readonly toolCallId: string;
  readonly title: string;
  readonly kind: string;
  readonly rawInput: unknown;
};

/** What follows a prompt. Methods may be called at any time between the prompt and its end. */
export interface PromptListener {
  /** Called in order. */
  onUpdate(update: SessionUpdate): void;
  /** Resolves with the answer of rules or a person; never rejects. */
  onPermission(request: RequestPermissionRequest): Promise<RequestPermissionOutcome>;
  /** Records what the agent asks us to do, before it is done. Resolves with why it may not be done, or null. */
  beginCall(call: RecordedCall): Promise<string | null>;
  endCall(call: RecordedCall, result: { readonly output: unknown; readonly isError: boolean }): Promise<void>;
}

/** How a prompt ended. */
export type PromptEnd = {
  readonly stopReason: StopReason;
  /** As the agent reports it, where it does. */
  readonly usage: unknown;
};

/** The session of an agent, once it is open. */
export type AcpSession = {
  readonly id: string;
  /** False for one that goes on where it was. */
  readonly isNew: boolean;
  /** Why the session that was asked for does not go on; null where it does, or none was asked for. */
  readonly lost: string | null;
  readonly models: AcpModels;
  readonly agentName: string | null;
  readonly agentVersion: string | null;
  /** Names of MCP servers that this agent cannot connect to. */
  readonly leftServers: readonly string[];
};

/** Another program that does the turns of a conversation. It is started when it is first needed. */
export interface ExternalAgent extends AsyncDisposable {
  /** Its command line, for messages to people. */
  readonly command: string;
  /** What it waits for. */
  readonly permissions: Permissions;
  readonly takesImages: boolean;
  /**
   * Its session: the one that is open, else the known one where the agent still has it, else a new one, which begins with `model`, or
   * that of the options. Rejects with an `AcpFailure`.
   */
  openSession(known: string | null, signal: AbortSignal, model?: string): Promise<AcpSession>;
  /** Needs an open session; one at a time. Rejects with an `AcpFailure`. */
  prompt(content: readonly ContentBlock[], listener: PromptListener): Promise<PromptEnd>;
  /** Asks for the end of the prompt, which then ends as any other. */
  cancel(): Promise<void>;
  /** Ends the program, with everything that it started. The next session starts it again. */
  stop(): Promise<void>;
  /** Of an open session. Rejects with an `AcpFailure`. */
  setModel(model: string, signal: AbortSignal): Promise<AcpModels>;
}
