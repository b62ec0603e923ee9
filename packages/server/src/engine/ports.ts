import type { LLM, Rule } from "@convoke/protocol";
import type { BoundSecret } from "../egress/egress.ts";
import type { Model } from "../models/model.ts";
import type { RulePlaces, SourcedRule } from "../security/rules/rule.ts";
import type { ConversationConfig, ConversationSecrets } from "./conversation-config.ts";
import type { HookGate, HookSurroundings } from "./hook-gate.ts";
import type { SessionContext } from "./session-context.ts";
import type { ToolBelt } from "./tool-belt.ts";

/*
 * Interfaces that a conversation needs of the server around it. Journal, clock, logger, observer and activity have
 * their own.
 */

/** The models of the conversation's owner. */
export interface Models {
  /** The agent's model for a configuration. */
  open(config: ConversationConfig, secrets: ConversationSecrets): Model;
  /** A stored model of the owner; null if there is none with this name. */
  findStored(name: string): Promise<LLM | null>;
}

/** The host of the conversation's tools. */
export interface Tools {
  /** Rejects if the tools are unavailable. */
  openSession(config: ConversationConfig, context: SessionContext): Promise<ToolBelt>;
  /** The hooks of a configuration; null if it has none. */
  openHooks(config: ConversationConfig, surroundings: HookSurroundings): HookGate | null;
  /** Absolute. */
  workspaceDir(config: ConversationConfig): string;
}

/** Where the conversation's wall finds the secrets that it puts into requests. */
export interface BoundSecretSink {
  /** Replaces those of the conversation. */
  set(secrets: readonly BoundSecret[]): void;
}

export const noBoundSecrets: BoundSecretSink = { set: () => {} };

/** Budgets of the conversation and its owner. */
export interface Budget {
  /** The exhausted budget; null while there is money. */
  refusal(): Promise<string | null>;
}

export const noBudget: Budget = { refusal: async () => null };

/** Rules besides those in the configuration of a conversation, and where paths in rules are. */
export interface Rules {
  /** Those of the server and of the owner, as they are now. */
  ofOwner(): readonly SourcedRule[];
  /** Those that the project has now. Rejects if the workspace cannot be reached. */
  readProject(config: ConversationConfig): Promise<ProjectRules>;
  places(config: ConversationConfig): RulePlaces;
  /** Adds to the owner's rules, for all conversations. */
  addForOwner(rules: readonly Rule[]): Promise<void>;
  /** Writes what the reviewer decided to the audit log; returns at once. */
  auditReview(record: ReviewRecord): void;
}

/** The decisions of a reviewer about some actions, as log and audit have them. */
export type ReviewRecord = {
  readonly conversation: string;
  /** The model that answered, and the name of its profile. */
  readonly model: string | null;
  readonly profile: string;
  readonly answers: readonly ReviewAnswer[];
};

export type ReviewAnswer = { readonly action_id: string; readonly accept: boolean; readonly reason: string };

/** `problems` says what of the file was refused; each is a text that names the rule and the field. */
export type ProjectRules = { readonly rules: readonly SourcedRule[]; readonly problems: readonly string[] };

export const noProjectRules: ProjectRules = { rules: [], problems: [] };

export const noRules: Rules = {
  ofOwner: () => [],
  readProject: async () => noProjectRules,
  places: ({ workspace }) => ({ workingDir: workspace.working_dir, home: null }),
  addForOwner: async () => {},
  auditReview: () => {},
};

/** User resources beside the agent, such as shells; they end with the conversation. */
export type People = AsyncDisposable;

export const nobody: People = { [Symbol.asyncDispose]: async () => {} };

/** The owner of the loaded conversation. */
export interface Holder {
  /** Called once when another process took the conversation over: this object is of no more use. */
  lost(): void;
}
