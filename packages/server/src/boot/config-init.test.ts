import { expect, test } from "vitest";
import { completeConfig, readInitKey, type InitDeps } from "./config-init.ts";
import { ConfigError } from "../lib/config-error.ts";
import { Fault } from "../lib/fault.ts";

const deps: InitDeps = {
  environment: {
    OH_SESSION_API_KEYS_0: "old",
    CONVOKE_ALLOWED_ORIGINS: "https://old.example",
    HOME: "/home",
  },
  overrides: { host: "127.0.0.1", port: 8123, dataDir: "/old" },
  allowedEnvironment: ({ TZ }) => (TZ === undefined ? {} : { TZ }),
};

function refusal(request: Parameters<typeof completeConfig>[0]): unknown {
  try {
    completeConfig(request, deps);
  } catch (error) {
    if (error instanceof Fault) return error.fields.map(({ loc }) => loc.join("."));
    throw error;
  }
  return null;
}

test("a deferred start is asked for, needs a key, and is open only where nobody needs keys", () => {
  expect(readInitKey({ OH_INIT_API_KEY: "k" }, {})).toBeNull();
  expect(readInitKey({ OH_DEFERRED_INIT: "0", OH_INIT_API_KEY: "k" }, {})).toBeNull();
  for (const name of ["OH_DEFERRED_INIT", "CONVOKE_DEFERRED_INIT"]) {
    expect(readInitKey({ [name]: "true", OH_INIT_API_KEY: "k" }, {})).toBe("k");
    expect(() => readInitKey({ [name]: "true" }, {})).toThrow(ConfigError);
    expect(() => readInitKey({ [name]: "perhaps", OH_INIT_API_KEY: "k" }, {})).toThrow(name);
  }
  const environment = { OH_DEFERRED_INIT: "TRUE", CONVOKE_INIT_API_KEY: "k" };
  const secretKey = { OH_DEFERRED_INIT: "1", OH_SECRET_KEY: "s" };
  expect(readInitKey(secretKey, {})).toBe("s");
  expect(readInitKey({ ...secretKey, OH_INIT_API_KEY: "k" }, {})).toBe("k");
  expect(readInitKey(environment, { isAuthDisabled: true })).toBe("k");
  expect(readInitKey({ OH_DEFERRED_INIT: "1" }, { isAuthDisabled: true })).toBe("");
  const open = { ...deps, overrides: { ...deps.overrides, isAuthDisabled: true } };
  expect(completeConfig({}, open).config.isAuthDisabled).toBe(true);
  // A configuration with keys requires them.
  expect(completeConfig({ session_api_keys: ["k"] }, open).config.isAuthDisabled).toBe(false);
  expect(completeConfig({ bash_events_dir: "/there" }, deps).config.dataDir).toBe(
    completeConfig({}, deps).config.dataDir,
  );
});

test("W35: every field that has a meaning here ends in the one configuration", () => {
  const { config, environment } = completeConfig(
    {
      session_api_keys: ["new"],
      secret_key: "seal",
      conversations_path: "/new",
      webhooks: [{ base_url: "https://hook.example", event_buffer_size: 2 }],
      web_url: "https://agents.example/prefix/",
      allow_cors_origins: ["https://page.example"],
      env: { TZ: "UTC", CONVOKE_CONVERSATION_IDLE_SECONDS: "5" },
    },
    deps,
  );
  expect(config).toMatchObject({
    port: 8123,
    dataDir: "/new",
    sessionApiKeys: ["new"],
    masterSecret: "seal",
    webhooks: [{ base_url: "https://hook.example", event_buffer_size: 2 }],
    webUrl: "https://agents.example/prefix",
    allowedHosts: ["agents.example"],
    allowedOrigins: ["https://agents.example", "https://page.example"],
    conversationIdleSeconds: 5,
  });
  expect(environment).toMatchObject({ TZ: "UTC", HOME: "/home" });
  expect(completeConfig({}, deps).config).toMatchObject({ dataDir: "/old", sessionApiKeys: ["old"] });
});

test("fields without effect are refused by name; null counts as absent", () => {
  expect(
    refusal({
      conversation_worktree_root: "/x",
      max_concurrent_runs: 3,
      telemetry: {},
      webhooks: [{ base_url: "https://hook.example", max_queue_bytes: 1 }],
    }),
  ).toEqual([
    "body.conversation_worktree_root",
    "body.max_concurrent_runs",
    "body.telemetry",
    "body.webhooks.0.max_queue_bytes",
  ]);
  expect(refusal({ env: { FOO: "1", CONVOKE_PORT: "1", OTEL_SERVICE_NAME: "x", TZ: "UTC" } })).toEqual([
    "body.env.CONVOKE_PORT",
    "body.env.OTEL_SERVICE_NAME",
  ]);
  expect(refusal({ session_api_keys: ["a"], env: { SESSION_API_KEY: "b" } })).toEqual([
    "body.env.SESSION_API_KEY",
  ]);
  expect(refusal({ web_url: "agents" })).toEqual(["body"]);
  expect(refusal({ bash_events_dir: null, max_concurrent_runs: null, webhooks: null, env: null })).toBeNull();
});

test("deferred_start_takes_any_variable: what is no setting is for commands", () => {
  const env = { LLM_API_KEY: "sk-1", GITHUB_TOKEN: "t", TZ: "UTC", CONVOKE_CONVERSATION_IDLE_SECONDS: "5" };
  const { forCommands } = completeConfig({ env }, deps);
  expect(forCommands).toEqual({ LLM_API_KEY: "sk-1", GITHUB_TOKEN: "t" });
});
