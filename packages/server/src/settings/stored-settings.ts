import type {
  MarketplaceRegistration,
  MetaProfile,
  ProviderType,
  ReviewerPolicy,
  SandboxGroupingStrategy,
  WhileRunning,
} from "@convoke/protocol";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Settings that are one value each, by their wire names, as they are where nobody has set them. */
const plainDefaults = {
  language: null as string | null,
  agent: null as string | null,
  max_iterations: null as number | null,
  security_analyzer: null as string | null,
  confirmation_mode: null as boolean | null,
  remote_runtime_resource_factor: null as number | null,
  enable_default_condenser: true,
  enable_sound_notifications: false,
  enable_proactive_conversation_starters: true,
  enable_solvability_analysis: true,
  user_consents_to_analytics: null as boolean | null,
  sandbox_base_container_image: null as string | null,
  sandbox_runtime_container_image: null as string | null,
  max_budget_per_task: null as number | null,
  email: null as string | null,
  email_verified: null as boolean | null,
  git_user_name: null as string | null,
  git_user_email: null as string | null,
  condenser_max_size: null as number | null,
  disabled_skills: null as readonly string[] | null,
  title_llm_profile: null as string | null,
  git_full_clone: false,
  v1_enabled: true,
  sandbox_grouping_strategy: "NO_GROUPING" as SandboxGroupingStrategy,
  default_sandbox_spec_id: null as string | null,
  registered_marketplaces: [] as readonly MarketplaceRegistration[],
};

export type PlainSettings = Readonly<typeof plainDefaults>;

export type StoredToken = {
  readonly token: string | null;
  readonly user_id: string | null;
  readonly host: string | null;
};

/** An address and a key that several stored models can name; times are epoch seconds. */
export type StoredConnection = {
  readonly display_name: string;
  readonly provider: string;
  readonly base_url: string | null;
  readonly api_key: string;
  readonly created_at: number;
  readonly updated_at: number;
};

/** What an installation from git is pinned to. */
export type StoredPin = {
  /** The branch or tag that was asked for; null: what the repository shows first. */
  readonly ref: string | null;
  /** In full. */
  readonly commit: string;
  /** Of the copy in the store. */
  readonly id: string;
  readonly digest: string;
};

/** A directory whose skill or plugin a user wants in every conversation; what is in it is read when it is needed. */
export type StoredInstallation = {
  readonly version: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly source: string;
  readonly repo_path: string | null;
  readonly installed_at: string;
  /** Of a directory; empty for a copy, whose path is another one at each node. */
  readonly install_path: string;
  /** For a copy from git; absent for a directory. */
  readonly pin?: StoredPin;
};

/** Everything that one user has set, secrets included: one document, sealed as a whole. Both faces are views of it. */
export type StoredSettings = {
  readonly plain: PlainSettings;
  /** The model of new conversations: `model`, `base_url`, `api_key` and every further option of an LLM. */
  readonly llm: JsonObject;
  /** Who is asked before a person in new conversations; null: the server's, or nobody. */
  readonly reviewer: ReviewerPolicy | null;
  /** What a message does while the agent works, in new conversations; null: `steer`. */
  readonly whileRunning: WhileRunning | null;
  readonly searchApiKey: string | null;
  readonly sandboxApiKey: string | null;
  /** By name, in the form of newer clients; null when never set. */
  readonly mcpServers: Readonly<Record<string, JsonObject>> | null;
  /** Agent settings of newer clients that have no other place here. */
  readonly agentExtras: JsonObject;
  readonly providerTokens: Readonly<Partial<Record<ProviderType, StoredToken>>>;
  /** Stored models by name. */
  readonly profiles: Readonly<Record<string, JsonObject>>;
  /** What the revisions of stored models are found by, by name; those without an entry by their name. */
  readonly profileIds: Readonly<Record<string, string>>;
  readonly activeProfile: string | null;
  /** Agents to launch by name, as clients send them with `id`, `name` and `revision` of ours. */
  readonly agentProfiles: Readonly<Record<string, JsonObject>>;
  readonly activeAgentProfileId: string | null;
  /** By name; stored for clients. */
  readonly metaProfiles: Readonly<Record<string, MetaProfile>>;
  /** By id. */
  readonly providerConnections: Readonly<Record<string, StoredConnection>>;
  /** What clients keep for themselves. */
  readonly misc: JsonObject;
  readonly installedSkills: Readonly<Record<string, StoredInstallation>>;
  readonly installedPlugins: Readonly<Record<string, StoredInstallation>>;
  /** Pages of Agent Canvas. */
  readonly installedCanvasExtensions: Readonly<Record<string, StoredInstallation>>;
};

/** What a user has who never stored anything. */
export const defaultSettings: StoredSettings = {
  plain: plainDefaults,
  llm: {},
  reviewer: null,
  whileRunning: null,
  searchApiKey: null,
  sandboxApiKey: null,
  mcpServers: null,
  agentExtras: {},
  providerTokens: {},
  profiles: {},
  profileIds: {},
  activeProfile: null,
  agentProfiles: {},
  activeAgentProfileId: null,
  metaProfiles: {},
  providerConnections: {},
  misc: {},
  installedSkills: {},
  installedPlugins: {},
  installedCanvasExtensions: {},
};

/** A stored document of this or an earlier version, completed with the defaults of what it does not know. */
export function completeSettings(stored: Partial<StoredSettings>): StoredSettings {
  return { ...defaultSettings, ...stored, plain: { ...defaultSettings.plain, ...stored.plain } };
}
