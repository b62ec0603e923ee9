import type { InitRequest } from "@convoke/protocol";
import { readConfig, type ConfigOverrides, type ServerConfig } from "./config.ts";
import { read, type Environment } from "./setting.ts";
import { settings } from "./settings.ts";
import { ConfigError } from "../lib/config-error.ts";
import { Fault, type FieldFault } from "../lib/fault.ts";
import { webhookDefaults } from "../webhooks/webhook.ts";

/** The key of `POST /api/init`, empty where nobody needs one, or null when the server starts with its configuration. */
export function readInitKey(environment: Environment, overrides: ConfigOverrides): string | null {
  if (!read(environment, settings.deferred_init)) return null;
  const key = read(environment, settings.init_api_key) ?? "";
  // A server without keys needs none here either; foreign pages are refused by their origin.
  if (key === "" && overrides.isAuthDisabled === true) return key;
  if (key.trim() !== key || key === "") {
    throw new ConfigError(
      "A deferred start needs OH_INIT_API_KEY (or OH_SECRET_KEY), the key of POST /api/init, without spaces around it; or --no-auth, where nobody needs a key.",
    );
  }
  return key;
}

export type InitDeps = {
  readonly environment: Environment;
  readonly overrides: ConfigOverrides;
  /** The part of an environment that commands see. */
  readonly allowedEnvironment: (environment: Environment) => Readonly<Record<string, string>>;
};

/** A configuration and the environment that it was read from. */
export type CompletedConfig = {
  readonly config: ServerConfig;
  readonly environment: Environment;
  /** Further variables of the request for commands: neither settings, nor already visible to commands. */
  readonly forCommands: Readonly<Record<string, string>>;
};

/** A name with our prefix that is no setting is a typo; every other name is for commands. */
const ourName = /^(CONVOKE_|OH_|OTEL_)|^SESSION_API_KEY$/;

/**
 * The environment's configuration, overridden by that of a request. Throws a Fault that names every field without
 * effect here, so that nothing is silently ignored.
 */
export function completeConfig(request: InitRequest, deps: InitDeps): CompletedConfig {
  refuseFields([...unknownHere(request), ...foreignHookFields(request)]);
  const given = request.env ?? {};
  const fields = fieldVariables(request);
  const environment: Record<string, string | undefined> = { ...deps.environment, ...given };
  for (const { replaces } of fields) {
    for (const name of Object.keys(environment)) if (replaces.test(name)) delete environment[name];
  }
  for (const { name, value } of fields) environment[name] = value;
  const read = new Set<string>();
  const config = readCompleted(recorded(environment, read), {
    ...deps.overrides,
    dataDir: request.conversations_path || deps.overrides.dataDir,
    // A configuration with keys requires them.
    isAuthDisabled: request.session_api_keys ? false : deps.overrides.isAuthDisabled,
  });
  const seen = deps.allowedEnvironment(environment);
  const others = Object.keys(given).filter((name) => !read.has(name) && !Object.hasOwn(seen, name));
  const idle = Object.keys(given).filter(
    (name) => environment[name] !== given[name] || (others.includes(name) && ourName.test(name)),
  );
  refuseFields(
    idle.map((name) =>
      extra(["env", name], "Remove it: it is no setting that is open here, or a field says the same."),
    ),
  );
  const forCommands = Object.fromEntries(others.map((name) => [name, given[name]!]));
  return { config, environment, forCommands };
}

function readCompleted(environment: Environment, overrides: ConfigOverrides): ServerConfig {
  try {
    return readConfig(environment, overrides);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const faults: FieldFault[] = [{ loc: ["body"], msg: error.message, type: "value_error" }];
    throw new Fault("caller", "validation", error.message, faults);
  }
}

/** Records which variables were read. */
function recorded(environment: Record<string, string | undefined>, read: Set<string>): Environment {
  return new Proxy(environment, {
    get(target, name) {
      if (typeof name !== "string") return undefined;
      read.add(name);
      return target[name];
    },
  });
}

type FieldVariable = { readonly name: string; readonly value: string; readonly replaces: RegExp };

function fieldVariables(request: InitRequest): FieldVariable[] {
  const variables: [string, RegExp, unknown][] = [
    ["OH_SESSION_API_KEYS", /^(SESSION_API_KEY|OH_SESSION_API_KEYS(_\d+)?)$/, request.session_api_keys],
    ["CONVOKE_SECRET_KEY", /^CONVOKE_SECRET_KEY$/, request.secret_key],
    ["CONVOKE_WEBHOOKS", /^(CONVOKE_WEBHOOKS|OH_WEBHOOKS(_.*)?)$/, request.webhooks],
    ["CONVOKE_WEB_URL", /^CONVOKE_WEB_URL$/, request.web_url],
    [
      "OH_ALLOW_CORS_ORIGINS",
      /^(CONVOKE_ALLOWED_ORIGINS|OH_ALLOW_CORS_ORIGINS(_\d+)?)$/,
      request.allow_cors_origins,
    ],
  ];
  return variables.flatMap(([name, replaces, value]) => {
    if (value === null || value === undefined) return [];
    return [{ name, replaces, value: typeof value === "string" ? value : JSON.stringify(value) }];
  });
}

const withoutMeaning = {
  conversation_worktree_root: "Conversations work in the directories that they name.",
  max_concurrent_runs: "There is no limit to runs at the same time.",
  telemetry: "Traces are set with OTEL_ variables, which env may have.",
} as const satisfies Partial<Record<keyof InitRequest, string>>;

function unknownHere(request: InitRequest): FieldFault[] {
  return Object.entries(withoutMeaning).flatMap(([name, why]) => {
    const value = request[name as keyof typeof withoutMeaning];
    return value === null || value === undefined ? [] : [extra([name], `Leave it out. ${why}`)];
  });
}

function foreignHookFields({ webhooks }: InitRequest): FieldFault[] {
  const known = new Set(["base_url", ...Object.keys(webhookDefaults)]);
  return (webhooks ?? []).flatMap((hook, index) =>
    Object.keys(hook)
      .filter((name) => !known.has(name))
      .map((name) => extra(["webhooks", index, name], "Leave it out: webhooks have no such setting here.")),
  );
}

function extra(path: (string | number)[], msg: string): FieldFault {
  return { loc: ["body", ...path], msg, type: "extra_forbidden" };
}

function refuseFields(faults: readonly FieldFault[]): void {
  if (faults.length > 0) throw new Fault("caller", "not_supported", "A field has no effect here.", faults);
}
