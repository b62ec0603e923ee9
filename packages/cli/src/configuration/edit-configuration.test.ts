import { expect, test } from "vitest";
import { withoutSetting, withSetting } from "./edit-configuration.ts";

const text = `# Where it listens
port = 8000 # the usual one

metrics = "off"
`;

test("a setting is written in place of its line, or behind the others, and comments stay", () => {
  expect(withSetting("", "port", "1")).toBe("port = 1\n");
  expect(withSetting(text, "metrics", "open")).toBe(text.replace('"off"', '"open"'));
  expect(withSetting(text, "allowed_hosts", "a, b")).toBe(`${text}allowed_hosts = [ "a", "b" ]\n`);
  expect(withSetting(text, "deferred_init", "1")).toBe(`${text}deferred_init = true\n`);
});

test("a new setting stands before the first table, where it belongs to none", () => {
  const table = '[[webhooks]]\nbase_url = "http://127.0.0.1:9"\n';
  expect(withSetting(table, "port", "1")).toBe(`port = 1\n${table}`);
});

test("a setting is removed with its line, and what has more lines is left to an editor", () => {
  expect(withoutSetting(text, "metrics")).toBe("# Where it listens\nport = 8000 # the usual one\n\n");
  const long = 'allowed_hosts = [\n  "a",\n]\n';
  expect(() => withoutSetting(long, "allowed_hosts")).toThrow(/config edit/);
});
