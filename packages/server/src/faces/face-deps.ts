import type { Validator } from "@convoke/protocol/validate";
import type { ToolHost, Workspace } from "@convoke/tool-host";
import type { LLM, LocalModelServer } from "@convoke/protocol";
import type { FastifyRequest } from "fastify";
import type { OpenAppConversations } from "../app-conversations/open-app-conversations.ts";
import type { Sandboxes } from "../app-conversations/sandbox-service.ts";
import type { AutomationEditor } from "../automations/automation-editor.ts";
import type { AutomationStore } from "../automations/automation-store.ts";
import type { TriggerPort } from "../automations/trigger-port.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Demo } from "../directory/demo.ts";
import type { Directory } from "../directory/directory.ts";
import type { RuleSources } from "../directory/owned-rules.ts";
import type { Quotas } from "../directory/quotas.ts";
import type { ApprovalPolicy } from "../engine/approval-policy.ts";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import type { PageCache } from "../events/page-cache.ts";
import type { TrimmedEvents } from "../events/trimmed-events.ts";
import type { ExtensionSources } from "../extensions/sources/extension-sources.ts";
import type { KeyRing } from "../http/auth.ts";
import type { CompletedBody } from "../http/read-request.ts";
import type { WrongAttempts } from "../http/wrong-attempts.ts";
import type { Journal } from "../journal/journal.ts";
import type { Clock } from "../lib/clock.ts";
import type { Fetch } from "../lib/filtered-fetch.ts";
import type { Logger } from "../lib/logger.ts";
import type { Model } from "../models/model.ts";
import type { OidcLogins } from "../oidc/oidc-logins.ts";
import type { PushServices } from "../push/push-services.ts";
import type { PushTarget, SubscriptionStore } from "../push/subscription-store.ts";
import type { Retention } from "../retention/retention.ts";
import type { Caller } from "../security/caller.ts";
import type { HoldStore } from "../settings/hold-store.ts";
import type { KeyStore } from "../settings/key-store.ts";
import type { LoginStore } from "../settings/login-store.ts";
import type { McpLogins } from "../settings/mcp-logins.ts";
import type { PolicyStore } from "../settings/policy-store.ts";
import type { ProfileHistory } from "../settings/profile-history.ts";
import type { RetentionPolicyStore } from "../settings/retention-policy-store.ts";
import type { SealedValues } from "../settings/sealed-values.ts";
import type { SecretStore } from "../settings/secret-store.ts";
import type { SettingsStore } from "../settings/settings-store.ts";
import type { TrashStore } from "../settings/trash-store.ts";
import type { Ledger } from "../spending/ledger.ts";
import type { DefaultPlace, Grants, NetworkTotals, PassingPlace } from "../tools/conversation-host.ts";
import type { SkillAccess } from "../tools/session-skills.ts";
import type { HookReceiver } from "../triggers/hook-receiver.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import type { RequireMachine } from "../workspaces/machine-policy.ts";
import type { SavedWorkspaces } from "../workspaces/saved-workspaces.ts";
import type { OpenAccess } from "../workspaces/workspace-access.ts";
import type { WorkspaceSessions } from "../workspaces/workspace-session.ts";

/** The parts of a server that its routes use. Handlers take all of them and name those that they need. */
export type FaceDeps = {
  readonly validator: Validator;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly database: ApplicationDatabase;
  readonly journal: Journal;
  readonly cluster: Cluster;
  readonly directory: Directory;
  readonly appConversations: OpenAppConversations;
  readonly trimmed: TrimmedEvents;
  readonly pages: PageCache;
  readonly settings: SettingsStore;
  readonly profileHistory: ProfileHistory;
  readonly secrets: SecretStore;
  readonly sealedValues: SealedValues;
  readonly ruleSources: RuleSources;
  readonly policies: PolicyStore;
  readonly quotas: Quotas;
  readonly ledger: Ledger;
  readonly retention: Retention;
  readonly retentionPolicies: RetentionPolicyStore;
  readonly holds: HoldStore;
  readonly trash: TrashStore;
  readonly webhooks: Pick<Webhooks, "status">;
  readonly mcpLogins: McpLogins;
  readonly keys: KeyRing;
  readonly keyStore: KeyStore;
  readonly logins: LoginStore;
  readonly attempts: WrongAttempts;
  readonly sessions: WorkspaceSessions;
  /** Null: no identity provider is configured. */
  readonly oidc: OidcLogins | null;
  readonly automations: {
    readonly store: AutomationStore;
    readonly editor: AutomationEditor;
    readonly triggers: TriggerPort;
    /** The clock that the nodes of the store share. */
    readonly clock: Clock;
  };
  readonly hooks: Pick<HookReceiver, "verify" | "receive">;
  /** Null while web push is off. */
  readonly push: {
    /** In base64url. */
    readonly publicKey: string;
    readonly services: PushServices;
    /** False for malformed keys. */
    readonly canSeal: (target: PushTarget) => boolean;
    readonly subscriptions: SubscriptionStore;
  } | null;
  /** Null when the server was started without a demo. */
  readonly demo: Demo | null;
  /** Null: everything below `/api/v1/sandboxes` and `/api/v1/sandbox-specs` is refused. */
  readonly sandboxes: Sandboxes | null;
  readonly toolHost: ToolHost;
  readonly hosts: DefaultPlace & NetworkTotals & PassingPlace & { readonly grants: Grants };
  readonly skills: SkillAccess;
  /** Opens folders and git repositories that requests name. */
  readonly sources: ExtensionSources;
  readonly savedWorkspaces: SavedWorkspaces;
  /** The machine that the routes mean: the server's, for whom it is, or inside a sandbox. */
  readonly openAccess: OpenAccess;
  /** The machine inside a sandbox, for its owner only. */
  readonly openSandboxAccess: OpenAccess;
  /** The files of a conversation's machine; paths must stay below `root`. */
  readonly openFiles: (config: ConversationConfig, root: string) => Promise<Workspace>;
  /** Decides who may use the server's machine. */
  readonly requireMachine: RequireMachine;
  /** Absolute; relative paths of clients are below it. */
  readonly workspaceRoot: string;
  /** The largest file that can be uploaded. */
  readonly uploadLimitBytes: number;
  /** For conversations that are created without an approval policy. */
  readonly approvalDefault: ApprovalPolicy | null;
  /** Fills in what a create request leaves out, from its user's settings. */
  readonly complete: (body: unknown, caller: Caller) => Promise<CompletedBody>;
  /** For calls outside of any conversation: they belong to no user and are not in the ledger. */
  readonly openModel: (llm: LLM) => Model;
  readonly findLocalServers: () => Promise<readonly LocalModelServer[]>;
  /** For addresses that users choose. */
  readonly filteredFetch: Fetch;
  /** The client's address, as reported by trusted proxies. */
  readonly clientAddress: (request: FastifyRequest) => string;
  /** Epoch milliseconds of the last call to an `/api` route. */
  readonly lastActivityMs: () => number;
  readonly isReady: () => boolean;
};
