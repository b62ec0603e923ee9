import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { text as readAll } from "node:stream/consumers";
import { textOf, type Environment, type Setting } from "@convoke/server/setting";
import { settingKeys, settings, type SettingKey } from "@convoke/server/settings";
import { userFile } from "../configuration/configuration-files.ts";
import {
  readIfThere,
  withoutSetting,
  withSetting,
  writeConfiguration,
} from "../configuration/edit-configuration.ts";
import { loadConfiguration } from "../configuration/load-configuration.ts";
import { withoutMarkdown } from "../configuration/configuration-schema.ts";
import { unknownKey } from "../configuration/read-configuration-file.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { printTable } from "../print/table.ts";
import { printJson } from "../print/json.ts";

type ListOptions = { readonly origin?: true; readonly all?: true; readonly json?: true };

export function listSettings(options: ListOptions): void {
  const { environment, origins } = loadConfiguration(process.env);
  const keys = settingKeys.filter((key) => options.all === true || origins.has(key));
  if (options.json === true) {
    for (const key of keys) printJson("config", toJson(key, environment, origins.get(key) ?? "built in"));
    return;
  }
  if (keys.length === 0) console.log("Nothing is configured. See convoke config --all.");
  const rows = keys.map((key) => [
    key,
    shown(key, environment, origins.has(key)),
    ...(options.origin === true ? [origins.get(key) ?? "built in"] : []),
  ]);
  printTable([{}, { isCut: true }, {}], rows);
}

export function getSetting(given: string): void {
  const key = toKey(given);
  const { environment, origins } = loadConfiguration(process.env);
  if (settings[key].isSecret)
    throw new CommandError(
      `${key} is a secret, ${origins.has(key) ? `set by ${origins.get(key)}` : "not set"}.`,
    );
  const text = valueOf(key, environment);
  if (text === null)
    throw new CommandError(`${key} is not set. Its default: ${withoutMarkdown(settings[key].shownDefault)}.`);
  console.log(text);
}

export async function setSetting(given: string, value: string): Promise<void> {
  const key = toKey(given);
  const setting: Setting<unknown> = settings[key];
  if (setting.isSecret && value !== "-")
    throw new CommandError(
      `${key} is a secret, and arguments show in the list of processes. Use "convoke config set ${key} -" and give it on standard input.`,
      exitCodes.usage,
    );
  const text = value === "-" ? (await readAll(process.stdin)).replace(/\r?\n$/, "") : value;
  setting.parse(text, key);
  const path = ownFile();
  writeConfiguration(path, withSetting(readIfThere(path), key, text));
  const { origins } = loadConfiguration(process.env);
  const origin = origins.get(key);
  if (origin !== path) console.error(`${key} was written to ${path}, but ${origin ?? "nothing"} wins.`);
}

export function unsetSetting(given: string): void {
  const key = toKey(given);
  const path = ownFile();
  const before = readIfThere(path);
  const after = withoutSetting(before, key);
  if (before === after) throw new CommandError(`${key} is not set in ${path}.`);
  writeConfiguration(path, after);
}

/** What was typed is checked before it counts; a wrong file is kept beside the right one. */
export function editFile(): void {
  const path = ownFile();
  const editor = process.env["VISUAL"] || process.env["EDITOR"];
  if (!editor) throw new CommandError(`Set EDITOR to a program, or edit ${path}.`, exitCodes.usage);
  if (!existsSync(path)) writeConfiguration(path, "# Settings of Convoke. See convoke config --all.\n");
  const draft = `${path}.edited`;
  copyFileSync(path, draft);
  // The variable may hold flags: `code --wait`.
  const ended = spawnSync("sh", ["-c", `${editor} "$1"`, "sh", draft], { stdio: "inherit" });
  if (ended.status !== 0) {
    rmSync(draft);
    const how = ended.status === null ? String(ended.signal) : `code ${ended.status}`;
    throw new CommandError(`${editor} ended with ${how}. ${path} is as it was.`);
  }
  try {
    writeConfiguration(path, readIfThere(draft));
  } catch (error) {
    throw new CommandError(
      `${error instanceof Error ? error.message : String(error)} ${path} is as it was; what you wrote is in ${draft}.`,
      exitCodes.usage,
    );
  }
  rmSync(draft);
}

function ownFile(): string {
  const path = userFile(process.env);
  if (path !== null) return path;
  throw new CommandError("HOME is not set, so there is no configuration file of yours.", exitCodes.usage);
}

function toKey(given: string): SettingKey {
  const key = settingKeys.find((one) => one === given || settings[one].variable === given);
  if (key !== undefined) return key;
  throw unknownKey(given, "convoke config");
}

/** Null when neither a value nor a fallback is there. */
function valueOf(key: SettingKey, environment: Environment): string | null {
  const { variable, aliases, fallback }: Setting<unknown> = settings[key];
  const name = [variable, ...aliases].find((one) => environment[one] !== undefined);
  if (name !== undefined) return environment[name]!;
  if (fallback === null || (Array.isArray(fallback) && fallback.length === 0)) return null;
  return textOf(fallback);
}

function shown(key: SettingKey, environment: Environment, isSet: boolean): string {
  if (settings[key].isSecret && isSet) return "(hidden)";
  const text = settings[key].isSecret ? null : valueOf(key, environment);
  return text ?? withoutMarkdown(settings[key].shownDefault);
}

function toJson(key: SettingKey, environment: Environment, origin: string) {
  const { isSecret } = settings[key];
  const text = isSecret ? null : valueOf(key, environment);
  return { key, value: text === null ? null : typed(settings[key], text), origin, is_secret: isSecret };
}

/** As it is in a configuration file. */
function typed({ type }: Setting<unknown>, text: string): string | number | boolean | string[] {
  if (type.kind === "number") return Number(text);
  if (type.kind === "switch") return /^(true|1)$/i.test(text);
  if (type.kind === "list") return text.split(",").flatMap((one) => (one.trim() === "" ? [] : [one.trim()]));
  return text;
}
