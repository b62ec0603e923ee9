import { expect, test } from "vitest";
import { ConfigError, readConfig } from "./config.ts";

test("flags win over the environment, the environment over defaults", () => {
  const environment = {
    CONVOKE_PORT: "9000",
    CONVOKE_HOST: "::1",
    CONVOKE_ALLOWED_HOSTS: "a.example, b.example",
  };
  expect(readConfig(environment, { port: 9001 })).toMatchObject({
    host: "::1",
    port: 9001,
    allowedHosts: ["a.example", "b.example"],
    isAuthDisabled: false,
  });
  expect(readConfig({})).toMatchObject({ host: "127.0.0.1", port: 8000, sessionApiKeys: [] });
});

test("the reference's names for keys and origins are understood", () => {
  const environment = {
    OH_SESSION_API_KEYS_0: "a",
    OH_SESSION_API_KEYS_1: "b",
    SESSION_API_KEY: "a",
    OH_ALLOW_CORS_ORIGINS: '["https://x.example"]',
  };
  expect(readConfig(environment)).toMatchObject({
    sessionApiKeys: ["a", "b"],
    allowedOrigins: ["https://x.example"],
  });
});

test.each([
  { SESSION_API_KEY: "  " },
  { OH_SESSION_API_KEYS: '[""]' },
  { OH_SESSION_API_KEYS_0: " padded" },
  { OH_SESSION_API_KEYS: "not json" },
  { OH_SESSION_API_KEYS: "[1]" },
  { CONVOKE_PORT: "many" },
  { CONVOKE_CONVERSATIONS: "sandbox" },
  { CONVOKE_PORT: "65536" },
  { CONVOKE_CONVERSATION_IDLE_SECONDS: "-1" },
])("P3: a setting that cannot be used is refused by name, without its secret: %j", (environment) => {
  const [[name, value]] = Object.entries(environment) as [[string, string]];
  let message = "";
  try {
    readConfig(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    message = (error as Error).message;
  }
  expect(message).toMatch(/\.$/);
  if (name.includes("KEY")) expect(message.includes(value) && value.trim() !== "").toBe(false);
  else expect(message).toContain(name);
});

test("security 9: link-local addresses are blocked for what users choose, unless others or none are named", () => {
  const blocked = (text?: string) => readConfig({ CONVOKE_BLOCKED_ADDRESSES: text }).blockedAddresses;
  expect(blocked()).toContain("169.254.0.0/16");
  expect(blocked("10.0.0.0/8, 192.168.0.0/16")).toEqual(["10.0.0.0/8", "192.168.0.0/16"]);
  expect(blocked("none")).toEqual([]);
});

test("S21: web push is off unless it is on, and says what it cannot use", () => {
  expect(readConfig({}).push).toBeNull();
  expect(readConfig({ CONVOKE_WEB_PUSH: "on" }).push?.contact).toBe("mailto:nobody@example.org");
  const there = { CONVOKE_WEB_PUSH: "on", CONVOKE_WEB_URL: "https://agents.example.org" };
  expect(readConfig(there).push?.contact).toBe("https://agents.example.org");
  expect(() => readConfig({ CONVOKE_WEB_PUSH: "yes" })).toThrow("CONVOKE_WEB_PUSH must be on or off");
  expect(() => readConfig({ CONVOKE_WEB_PUSH_CONTACT: "me" })).toThrow("CONVOKE_WEB_PUSH_CONTACT must be");
  expect(() => readConfig({ CONVOKE_WEB_PUSH_SERVICES: "a b" })).toThrow('has "a b"');
});

test("a file of sandbox specs is an absolute path, of the flag first, and an image may come from it", () => {
  expect(readConfig({}).sandbox.specsFile).toBe(null);
  const environment = { CONVOKE_SANDBOX_SPECS: "/etc/specs.json", CONVOKE_SANDBOX: "docker" };
  expect(readConfig(environment).sandbox).toMatchObject({ specsFile: "/etc/specs.json", use: ["docker"] });
  expect(readConfig(environment, { sandboxSpecs: "/own.json" }).sandbox.specsFile).toBe("/own.json");
  expect(() => readConfig({ CONVOKE_SANDBOX: "docker" })).toThrow("CONVOKE_SANDBOX_IMAGE");
});
