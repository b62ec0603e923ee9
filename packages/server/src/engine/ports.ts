import type { LLM } from "@convoke/protocol";
import type { Model } from "../models/model.ts";
import type { ConversationConfig, ConversationSecrets } from "./conversation-config.ts";
import type { HookGate, HookSurroundings } from "./hook-gate.ts";
import type { SessionContext } from "./session-context.ts";
import type { ToolBelt } from "./tool-belt.ts";

/*
 * What a conversation needs of the server around it. Beside these it has a journal, a clock, a logger, an observer and an activity,
 * which have interfaces of their own.
 */

/** The models of the conversation's owner. */
export interface Models {
  /** The agent's model of a configuration. */
  open(config: ConversationConfig, secrets: ConversationSecrets): Model;
  /** A model that the owner has stored; null when there is none of the name. */
  findStored(name: string): Promise<LLM | null>;
}

/** Where the tools of the conversation run. */
export interface Tools {
  /** Rejects when they cannot be used now. */
  openSession(config: ConversationConfig, context: SessionContext): Promise<ToolBelt>;
  /** The hooks that a configuration asks for; null when it has none. */
  openHooks(config: ConversationConfig, surroundings: HookSurroundings): HookGate | null;
  /** Absolute. */
  workspaceDir(config: ConversationConfig): string;
}

/** What the conversation and its owner may spend. */
export interface Budget {
  /** Which budget is used up; null while there is money. */
  refusal(): Promise<string | null>;
}

export const noBudget: Budget = { refusal: async () => null };

/** What people have open beside the agent, such as shells: it ends with the conversation. */
export type People = AsyncDisposable;

export const nobody: People = { [Symbol.asyncDispose]: async () => {} };

/** The owner of the loaded conversation. */
export interface Holder {
  /** Called once when another process took the conversation over: this object is of no more use. */
  lost(): void;
}
