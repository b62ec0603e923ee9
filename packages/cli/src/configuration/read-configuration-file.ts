import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, resolve } from "node:path";
import { ConfigError } from "@convoke/server/config-error";
import type { Setting } from "@convoke/server/setting";
import { settingKeys, settings, type SettingKey } from "@convoke/server/settings";
import { nearMiss } from "@convoke/protocol/near-miss";
import { parse, TomlError } from "smol-toml";
import type { ConfigurationFile } from "./configuration-files.ts";

/** One setting of a file. */
export type FileEntry = {
  readonly key: SettingKey;
  /** In the form that the setting's variable has. */
  readonly text: string;
  /** True: `text` is the path of the file with the secret (`session_api_key_file`). */
  readonly isInFile: boolean;
};

/** The settings of a file; none where an unnamed file is not there. Throws {@link ConfigError} that names file and key. */
export function readConfigurationFile(file: ConfigurationFile): readonly FileEntry[] {
  const found = readText(file);
  if (found === null) return [];
  const entries = parseConfiguration(found.text, file.path);
  const open = entries.find(({ key, isInFile }) => settings[key].isSecret && !isInFile);
  if (open !== undefined && (found.mode & othersBits) !== 0)
    throw new ConfigError(
      `${file.path} holds the secret ${open.key} and others can read it. Close it: chmod 600 ${file.path}, or put the secret into a file of its own and name that with ${open.key}_file.`,
    );
  return entries;
}

const othersBits = 0o077;

function readText({ path, isNamed }: ConfigurationFile): { text: string; mode: number } | null {
  try {
    const handle = openSync(path, "r");
    try {
      return { text: readFileSync(handle, "utf8"), mode: fstatSync(handle).mode };
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!isNamed && (code === "ENOENT" || code === "ENOTDIR")) return null;
    throw new ConfigError(
      `The configuration file ${path} cannot be read (${code})${isNamed ? "; CONVOKE_CONFIG names it" : ""}.`,
      { cause: error },
    );
  }
}

/** `path` names the file in errors, and relative paths are below its folder. */
export function parseConfiguration(text: string, path: string): readonly FileEntry[] {
  return Object.entries(parseToml(text, path)).map(([key, value]) => toEntry(key, value, path));
}

function parseToml(text: string, path: string): object {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The rest of its message quotes lines, which may hold secrets.
    const [what] = error.message.split("\n");
    throw new ConfigError(`${path} is not TOML: line ${error.line}, column ${error.column}: ${what}`);
  }
}

function toEntry(key: string, value: unknown, path: string): FileEntry {
  const known = settingKeys.find((one) => one === key);
  if (known !== undefined) return { key: known, isInFile: false, text: toText(known, value, path) };
  const inFile = settingKeys.find((one) => `${one}_file` === key && settings[one].isSecret);
  if (inFile === undefined) throw unknownKey(key, path);
  if (typeof value !== "string") throw wrong(path, key, "the path of a file, in quotes");
  return { key: inFile, isInFile: true, text: absolute(value, path) };
}

/** The error for a key that no setting has. */
export function unknownKey(key: string, where: string): ConfigError {
  const near = nearMiss(key, settingKeys);
  const hint = near === null ? "See convoke config schema." : `Did you mean \`${near}\`?`;
  return new ConfigError(`${where}: unknown key \`${key}\`. ${hint}`);
}

function toText(key: SettingKey, value: unknown, path: string): string {
  const setting: Setting<unknown> = settings[key];
  const text = variableForm(setting, value, path);
  if (text === null) throw wrong(path, key, formOf(setting));
  setting.parse(text, `${path}: ${key}`);
  return text;
}

/** Null for a value of another type. */
function variableForm({ type }: Setting<unknown>, value: unknown, path: string): string | null {
  switch (type.kind) {
    case "number":
      return typeof value === "number" || typeof value === "bigint" ? String(value) : null;
    case "switch":
      return typeof value === "boolean" ? String(value) : null;
    case "list": {
      const items: unknown[] = Array.isArray(value) ? value : [value];
      return items.every((item) => typeof item === "string") ? items.join(",") : null;
    }
    case "json":
      return typeof value === "string" ? value : JSON.stringify(value);
    case "path":
      return typeof value === "string" ? absolute(value, path) : null;
    default:
      return typeof value === "string" ? value : null;
  }
}

function formOf({ type }: Setting<unknown>): string {
  if (type.kind === "number") return "a number, without quotes";
  if (type.kind === "switch") return "true or false, without quotes";
  if (type.kind === "list") return "a list of texts";
  return "a text, in quotes";
}

function wrong(path: string, key: string, form: string): ConfigError {
  return new ConfigError(`${path}: ${key} must be ${form}.`);
}

function absolute(text: string, path: string): string {
  if (text === "~" || text.startsWith("~/")) return resolve(homedir(), text.slice(2));
  return resolve(dirname(path), text);
}
