import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { ConfigError } from "../lib/config-error.ts";
import { readTracing, type MetricsAccess } from "./config-observability.ts";
import { readApprovalDefault, type ApprovalDefault } from "./config-limits.ts";
import { readOidc } from "./config-oidc.ts";
import { readPush, type PushConfig } from "./config-push.ts";
import type { OidcSettings } from "../oidc/oidc-settings.ts";
import type { RateLimitSettings } from "../http/rate-limits.ts";
import { parseJsonList, readWebhooks } from "./config-webhooks.ts";
import type { TracingConfig } from "../observability/traces.ts";
import type { WebhookSpec } from "../webhooks/webhook.ts";
import { read, type Environment } from "./setting.ts";
import { settings } from "./settings.ts";
import { readDatabase } from "./config-database.ts";
import { readWallConfig, type WallConfig } from "./config-wall.ts";
import { readSandboxConfig, type SandboxConfig } from "./config-sandboxes.ts";
import type { PostgresPlace } from "../database/postgres-place.ts";

export { ConfigError } from "../lib/config-error.ts";

/** Everything that can be configured about a server, in one typed object. */
export type ServerConfig = {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Absolute. */
  readonly dataDir: string;
  /** The database that servers on several machines share; null stores everything in the data folder. */
  readonly database: PostgresPlace | null;
  /** The home of the server's user, with their skills and hooks; null when there is none. */
  readonly homeDir: string | null;
  /** Relative working directories of clients are below this absolute path. */
  readonly workspaceRoot: string;
  /** Keys from the configuration; empty means that the data folder's own key is used. */
  readonly sessionApiKeys: readonly string[];
  readonly isAuthDisabled: boolean;
  /** The key that seals secrets; null when the data folder has its own key file. */
  readonly masterSecret: string | null;
  /** The address for clients, without a trailing slash; null: taken from their requests. */
  readonly webUrl: string | null;
  /** The folder of the built web interface; null serves none. */
  readonly webDir: string | null;
  /** The folder of the built documentation; null serves none. */
  readonly docsDir: string | null;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** A regular expression for further origins, as a whole. */
  readonly originPattern: string | null;
  /** The name by which containers on this machine reach it. */
  readonly machineName: string | null;
  /** Idle conversations are unloaded after that many seconds. */
  readonly conversationIdleSeconds: number;
  /** A server whose event loop stalls for that long ends itself; 0: never. */
  readonly standstillSeconds: number;
  readonly sandbox: SandboxConfig;
  /** The walls of conversations that work on this machine, outside of sandboxes. */
  readonly wall: WallConfig;
  /** Addresses and networks (`10.0.0.0/8`) of proxies whose `X-Forwarded-*` headers are believed. */
  readonly trustedProxies: readonly string[];
  /** The receivers of every event. */
  readonly webhooks: readonly WebhookSpec[];
  /** How browsers are notified while no page is open; null: not at all. */
  readonly push: PushConfig | null;
  /** The identity provider at which people log in; null: there is none. */
  readonly oidc: OidcSettings | null;
  /** Users who may reach the files and the shell of the server's machine; `*` is everybody. */
  readonly machineUsers: readonly string[];
  /** Requests a minute of one key and of one user. */
  readonly rateLimits: RateLimitSettings;
  /** Addresses and networks that are refused when users choose them. */
  readonly blockedAddresses: readonly string[];
  /** True when agents of all other users run in sandboxes only. */
  readonly areConversationsSandboxed: boolean;
  /** The largest file that can be uploaded. */
  readonly uploadLimitBytes: number;
  /** Commands of the bash routes are dropped after that many seconds; null: only when room is needed. */
  readonly bashRetentionSeconds: number | null;
  /** US dollars that model calls of one user may cost in a day; null for no limit. */
  readonly maxBudgetPerUserPerDay: number | null;
  /** Where Ollama listens (`OLLAMA_HOST`), for the list of model servers on this machine; null: its usual address. */
  readonly ollamaHost: string | null;
  /** What happens to unanswered actions, in conversations that do not say it themselves. */
  readonly approvalDefault: ApprovalDefault | null;
  /** Absolute path of the file with the rules for all users; null: there are none. */
  readonly rulesFile: string | null;
  /** Absolute path of the file with the retention policy for all users; null: there is none. */
  readonly retentionFile: string | null;
  /** How often retention is applied. */
  readonly retentionSeconds: number;
  readonly metrics: MetricsAccess;
  /** Null: no traces. */
  readonly tracing: TracingConfig | null;
};

/** The settings that flags can set; flags win over the environment. */
export type ConfigOverrides = {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly dataDir?: string | undefined;
  /** As `CONVOKE_DATABASE`. */
  readonly database?: string | undefined;
  readonly workspaceRoot?: string | undefined;
  readonly isAuthDisabled?: boolean | undefined;
  /** As `CONVOKE_SANDBOX`. */
  readonly sandbox?: string | undefined;
  /** As `CONVOKE_SANDBOX_SPECS`. */
  readonly sandboxSpecs?: string | undefined;
  /** As `CONVOKE_WALL`. */
  readonly wall?: string | undefined;
  /** As `CONVOKE_NETWORK`. */
  readonly network?: string | undefined;
  readonly webDir?: string | undefined;
  /** Not used with `CONVOKE_DOCS=off`. */
  readonly docsDir?: string | undefined;
};

/** Reads `CONVOKE_*` variables and the reference's names (`OH_*`, `SESSION_API_KEY`) as aliases. */
export function readConfig(environment: Environment, overrides: ConfigOverrides = {}): ServerConfig {
  const webUrl = readWebUrl(environment);
  const database = readDatabase(environment, overrides.database);
  const wall = readWallConfig(environment, overrides);
  const host = overrides.host ?? read(environment, settings.host);
  const isAuthDisabled = overrides.isAuthDisabled ?? false;
  return {
    host,
    port: overrides.port ?? read(environment, settings.port),
    dataDir: resolve(
      overrides.dataDir ?? read(environment, settings.data_dir) ?? join(homedir(), ".convoke"),
    ),
    database,
    homeDir: environment["HOME"] ?? null,
    workspaceRoot: resolve(overrides.workspaceRoot ?? read(environment, settings.workspace_root) ?? "."),
    sessionApiKeys: readKeys(environment),
    isAuthDisabled,
    masterSecret: read(environment, settings.secret_key),
    webUrl,
    webDir: overrides.webDir ?? null,
    docsDir: read(environment, settings.docs) === "on" ? (overrides.docsDir ?? null) : null,
    allowedHosts: [
      ...read(environment, settings.allowed_hosts),
      ...[webUrl, database?.nodeAddress].flatMap((url) => (url == null ? [] : [hostOf(url)])),
    ],
    allowedOrigins: [
      ...(webUrl === null ? [] : [new URL(webUrl).origin]),
      ...read(environment, settings.allowed_origins),
      ...readIndexed(environment, "OH_ALLOW_CORS_ORIGINS"),
    ],
    originPattern: read(environment, settings.allowed_origin_regex),
    machineName: read(environment, settings.docker_host_addr)?.trim() || null,
    standstillSeconds: read(environment, settings.standstill_seconds),
    conversationIdleSeconds: read(environment, settings.conversation_idle_seconds),
    sandbox: readSandboxConfig(environment, wall.network, overrides),
    wall,
    trustedProxies: read(environment, settings.trusted_proxies),
    webhooks: readWebhooks(environment),
    push: readPush(environment, webUrl),
    oidc: readOidc(environment, { host, webUrl, isAuthDisabled }),
    machineUsers:
      environment[settings.machine_users.variable] === "" ? [] : read(environment, settings.machine_users),
    rateLimits: {
      perKey: read(environment, settings.rate_limit_per_key),
      perUser: read(environment, settings.rate_limit_per_user),
    },
    blockedAddresses: readBlocked(environment),
    areConversationsSandboxed: read(environment, settings.conversations) === "sandboxed",
    uploadLimitBytes: read(environment, settings.upload_limit_mib) * 1024 * 1024,
    bashRetentionSeconds: read(environment, settings.bash_events_retention_seconds) || null,
    maxBudgetPerUserPerDay: read(environment, settings.max_budget_per_user_per_day),
    ollamaHost: read(environment, settings.ollama_host),
    approvalDefault: readApprovalDefault(environment),
    rulesFile: resolved(read(environment, settings.rules)),
    retentionFile: resolved(read(environment, settings.retention)),
    retentionSeconds: read(environment, settings.retention_interval_seconds),
    metrics: read(environment, settings.metrics),
    tracing: readTracing(environment),
  };
}

function resolved(file: string | null): string | null {
  return file === null ? null : resolve(file);
}

function readBlocked(environment: Environment): readonly string[] {
  const entries = read(environment, settings.blocked_addresses);
  return entries.length === 1 && entries[0] === "none" ? [] : entries;
}

function readWebUrl(environment: Environment): string | null {
  const text = read(environment, settings.web_url);
  if (!text) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && `${url.username}${url.search}${url.hash}` === "") {
    return url.href.replace(/\/+$/, "");
  }
  throw new ConfigError("CONVOKE_WEB_URL must be an address such as https://agents.example.org/prefix.");
}

function hostOf(url: string): string {
  return new URL(url).hostname.replaceAll(/[[\]]/g, "");
}

function readKeys(environment: Environment): string[] {
  const single = read(environment, settings.session_api_key);
  const keys = [...readIndexed(environment, "OH_SESSION_API_KEYS"), ...(single ? [single] : [])];
  if (keys.some((key) => key.trim() !== key || key === "")) {
    throw new ConfigError(
      "A session API key is empty or begins or ends with a space, so no client could send it.",
    );
  }
  return [...new Set(keys)];
}

/** `NAME_0`, `NAME_1`, ... or `NAME` as a JSON list. */
function readIndexed(environment: Environment, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; environment[`${name}_${index}`]; index++) values.push(environment[`${name}_${index}`]!);
  const whole = environment[name];
  return values.length > 0 || !whole ? values : parseList(name, whole);
}

function parseList(name: string, text: string): string[] {
  const items = parseJsonList(name, text, "texts");
  if (items.every((item) => typeof item === "string")) return items;
  throw new ConfigError(`${name} must be a JSON list of texts.`);
}
