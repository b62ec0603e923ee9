import { chmod, mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ConfigError } from "@convoke/server/config-error";
import { userFile } from "./configuration-files.ts";
import { loadConfiguration } from "./load-configuration.ts";

/** A home whose own configuration file has this text. */
async function openHome(text: string, mode = 0o600) {
  const folder = await mkdtempDisposable(join(tmpdir(), "convoke-config-"));
  onTestFinished(() => folder.remove());
  const home = { HOME: folder.path };
  const file = userFile(home)!;
  await mkdir(join(folder.path, ".config/convoke"), { recursive: true });
  await writeFile(file, text);
  await chmod(file, mode);
  return { home, file, folder: folder.path };
}

test("later layers win: the user's file, the file of CONVOKE_CONFIG, the environment", async () => {
  const { home, file, folder } = await openHome('port = 1\nhost = "::1"\nallowed_hosts = ["a", "b"]\n');
  const named = join(folder, "more.toml");
  await writeFile(named, 'port = 2\nmetrics = "off"\nrules = "rules.json"\n');
  const { environment, origins } = loadConfiguration({
    ...home,
    CONVOKE_CONFIG: named,
    CONVOKE_METRICS: "open",
  });
  expect(environment).toMatchObject({
    CONVOKE_PORT: "2",
    CONVOKE_HOST: "::1",
    CONVOKE_ALLOWED_HOSTS: "a,b",
    CONVOKE_METRICS: "open",
    CONVOKE_RULES: join(folder, "rules.json"),
  });
  expect(Object.fromEntries(origins)).toEqual({
    host: file,
    allowed_hosts: file,
    port: named,
    rules: named,
    metrics: "environment CONVOKE_METRICS",
  });
});

test("XDG_CONFIG_HOME moves the user's file, and another name of a variable wins over files too", async () => {
  const { folder } = await openHome("");
  await mkdir(join(folder, "xdg/convoke"), { recursive: true });
  await writeFile(join(folder, "xdg/convoke/config.toml"), 'port = 5\nallowed_origin_regex = "file"\n');
  const xdg = { HOME: folder, XDG_CONFIG_HOME: join(folder, "xdg") };
  const { environment } = loadConfiguration({ ...xdg, OH_ALLOW_CORS_ORIGIN_REGEX: "alias" });
  expect(environment["CONVOKE_PORT"]).toBe("5");
  expect(environment["CONVOKE_ALLOWED_ORIGIN_REGEX"]).toBeUndefined();
});

test.each([
  ["prot = 1", "unknown key `prot`. Did you mean `port`?"],
  ["[wall]\nmemory_mb = 1", "wall must be a text, in quotes"],
  ['port = "8000"', "port must be a number, without quotes"],
  ["port = 70000", 'port must be a whole number from 0 to 65535, not "70000"'],
  ["port = ", "is not TOML: line 1, column 8"],
])("a file with %j is refused with its path and what is wrong", async (text, message) => {
  const { home, file } = await openHome(text);
  expect(() => loadConfiguration(home)).toThrow(ConfigError);
  expect(() => loadConfiguration(home)).toThrow(message);
  expect(() => loadConfiguration(home)).toThrow(file);
});

test("an error in a file does not quote its lines, which may hold secrets", async () => {
  const { home } = await openHome('session_api_key = "canary-7\n');
  expect(() => loadConfiguration(home)).toThrow(/^(?!.*canary)[^]*is not TOML/);
});

test("a secret is refused in a file that others can read; the path of its own file is not", async () => {
  const { home, file } = await openHome('session_api_key = "canary-7"', 0o640);
  expect(() => loadConfiguration(home)).toThrow(`chmod 600 ${file}`);
  await chmod(file, 0o600);
  expect(loadConfiguration(home).environment["SESSION_API_KEY"]).toBe("canary-7");
  const other = await openHome('session_api_key_file = "key"', 0o644);
  await writeFile(join(other.folder, ".config/convoke/key"), "from-file\n");
  expect(loadConfiguration(other.home).environment["SESSION_API_KEY"]).toBe("from-file");
});

test("a named file that is not there is an error, and so is a key beside its file", async () => {
  const { home } = await openHome('secret_key = "a"\nsecret_key_file = "b"');
  expect(() => loadConfiguration(home)).toThrow("has both secret_key and secret_key_file");
  expect(() => loadConfiguration({ HOME: "/nowhere", CONVOKE_CONFIG: "/nowhere.toml" })).toThrow(
    "/nowhere.toml cannot be read (ENOENT); CONVOKE_CONFIG names it",
  );
});

test("NAME_FILE of each secret is read without its last newline; both set, unreadable and empty are errors", async () => {
  const { home, folder } = await openHome("");
  const file = join(folder, "secret");
  await writeFile(file, "postgres://u@h/d\n");
  const load = (given: Record<string, string>) => loadConfiguration({ ...home, ...given });
  const found = load({ CONVOKE_DATABASE_URL_FILE: file });
  expect(found.environment["CONVOKE_DATABASE_URL"]).toBe("postgres://u@h/d");
  expect(found.origins.get("database")).toBe("environment CONVOKE_DATABASE_URL_FILE");
  expect(() => load({ SESSION_API_KEY: "a", SESSION_API_KEY_FILE: file })).toThrow(
    "SESSION_API_KEY and SESSION_API_KEY_FILE are both set",
  );
  expect(() => load({ SESSION_API_KEY_FILE: "/nowhere" })).toThrow(
    "SESSION_API_KEY_FILE names /nowhere, which cannot be read (ENOENT)",
  );
  await writeFile(file, "\n");
  expect(() => load({ SESSION_API_KEY_FILE: file })).toThrow("which is empty");
  // What is no secret has no such form.
  expect(load({ CONVOKE_PORT_FILE: file }).environment["CONVOKE_PORT"]).toBeUndefined();
});
