import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { ConfigError } from "@convoke/server/config-error";
import type { Setting } from "@convoke/server/setting";
import { settings, type SettingKey } from "@convoke/server/settings";
import { stringify } from "smol-toml";
import { CommandError } from "../exit-codes.ts";
import { parseConfiguration } from "./read-configuration-file.ts";

/** The text of a file with `key` set to `value`, in place of its line or as a new line; comments and order stay. */
export function withSetting(text: string, key: SettingKey, value: string): string {
  return withLine(text, key, stringify({ [key]: toToml(settings[key], value) }).trimEnd());
}

/** The text without `key`. */
export function withoutSetting(text: string, key: SettingKey): string {
  return withLine(text, key, null);
}

/** Writes a file that only its owner reads, as a whole or not at all. Rejects a text that is no configuration. */
export function writeConfiguration(path: string, text: string): void {
  parseConfiguration(text, path);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.draft`;
  rmSync(draft, { force: true });
  writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
}

/** Empty where the file is not there. */
export function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** Only single lines before the first table are edited; anything else is for an editor. */
function withLine(text: string, key: SettingKey, line: string | null): string {
  const lines = text.split("\n");
  const firstTable = lines.findIndex((one) => /^\s*\[/.test(one));
  const end = firstTable === -1 ? lines.length : firstTable;
  const at = lines.findIndex((one, index) => index < end && new RegExp(`^\\s*${key}\\s*=`).test(one));
  const before = keysOf(text);
  if (at !== -1) lines.splice(at, 1, ...(line === null ? [] : [line]));
  else if (line !== null && lines[end - 1] === "") lines.splice(end - 1, 0, line);
  else if (line !== null) lines.splice(end, 0, line);
  const changed = lines.join("\n");
  const wanted = line === null ? before.filter((one) => one !== key) : [...new Set([...before, key])];
  if (hasKeys(changed, wanted)) return changed === "" || changed.endsWith("\n") ? changed : `${changed}\n`;
  throw new CommandError(`The lines of ${key} cannot be changed here. Change them with convoke config edit.`);
}

/** False too where half of a value of several lines is left. */
function hasKeys(text: string, wanted: readonly string[]): boolean {
  try {
    return keysOf(text).toSorted().join() === wanted.toSorted().join();
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

function keysOf(text: string): readonly string[] {
  return parseConfiguration(text, "The configuration").map(({ key, isInFile }) =>
    isInFile ? `${key}_file` : key,
  );
}

function toToml({ type }: Setting<unknown>, value: string): unknown {
  if (type.kind === "number") return Number(value);
  if (type.kind === "switch") return /^(true|1)$/i.test(value);
  if (type.kind === "list") return value.split(",").map((item) => item.trim());
  return value;
}
