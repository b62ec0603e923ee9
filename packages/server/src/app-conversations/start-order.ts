import type { AppConversationStartRequestOutput, ProviderType } from "@convoke/protocol";
import type { ConversationConfig, ConversationSecrets } from "../engine/conversation-config.ts";
import type { SendInput } from "../engine/conversation-deps.ts";

/** A repository to begin with. */
export type RepositoryOrder = {
  /** `owner/repo`, as it was asked for. */
  readonly name: string;
  /** Without credentials. */
  readonly url: string;
  readonly branch: string | null;
  /** Whether all of its history is wanted. */
  readonly isFull: boolean;
  /** Who to say one is, and the name of the conversation's secret with the token; null where none is needed. */
  readonly login: { readonly user: string; readonly secret: string } | null;
};

/** Everything that a start needs, also after a restart of the server. It has secrets: sealed at rest. */
export type StartOrder = {
  readonly title: string | null;
  /** Its working directory and sandbox are filled in by the start. */
  readonly config: ConversationConfig;
  readonly secrets: ConversationSecrets;
  readonly initialMessage: Pick<SendInput, "message" | "wantsRun" | "responseSchema"> | null;
  readonly repository: RepositoryOrder | null;
  /** Null: a sandbox of its own, made from the template. */
  readonly sandboxId: string | null;
  readonly templateId: string;
  readonly parentId: string | null;
  /** Null: directly in the workspace, or in its repository. */
  readonly subfolder: string | null;
  readonly facts: AppFacts;
};

/** What is stored beside a conversation for its readers. */
export type AppFacts = {
  readonly selectedRepository: string | null;
  readonly selectedBranch: string | null;
  readonly gitProvider: ProviderType | null;
  readonly trigger: string | null;
  readonly prNumbers: readonly number[];
  readonly isPublic: boolean | null;
};

/** A request to start, read and checked. */
export type StartRequest = {
  /** Null: a new one. */
  readonly conversationId: string | null;
  readonly order: StartOrder;
  /** Without secrets. */
  readonly shown: AppConversationStartRequestOutput;
};
