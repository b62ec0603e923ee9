import { ConfigError } from "@convoke/server/config-error";
import type { Environment, Setting } from "@convoke/server/setting";
import { settingKeys, settings, type SettingKey } from "@convoke/server/settings";
import { configurationFiles } from "./configuration-files.ts";
import { readConfigurationFile } from "./read-configuration-file.ts";
import { readSecretFile } from "./read-secret-file.ts";

/** What is configured, and where each value comes from. */
export type Configuration = {
  /** The given environment with the values of files under their variables; the environment wins. */
  readonly environment: Environment;
  /** `environment CONVOKE_PORT`, or the path of a file; nothing for what is not set. */
  readonly origins: ReadonlyMap<SettingKey, string>;
};

/** Reads the configuration files and the files that hold secrets. Throws {@link ConfigError}. */
export function loadConfiguration(given: Environment): Configuration {
  const environment: Record<string, string | undefined> = { ...given };
  const origins = new Map<SettingKey, string>();
  for (const file of configurationFiles(given)) {
    const seen = new Set<SettingKey>();
    for (const { key, text, isInFile } of readConfigurationFile(file)) {
      if (seen.has(key))
        throw new ConfigError(`${file.path} has both ${key} and ${key}_file. Leave one of them out.`);
      seen.add(key);
      if (isSetIn(given, key)) continue;
      const name = `${file.path}: ${key}_file`;
      environment[settings[key].variable] = isInFile ? readSecretFile(name, text) : text;
      origins.set(key, file.path);
    }
  }
  for (const key of settingKeys) {
    const setting: Setting<unknown> = settings[key];
    const names = [setting.variable, ...setting.aliases];
    const set = names.find((name) => given[name] !== undefined);
    const inFile = setting.isSecret ? names.find((name) => given[`${name}_FILE`]) : undefined;
    if (inFile !== undefined) {
      const also = names.find((name) => given[name]);
      if (also !== undefined)
        throw new ConfigError(`${also} and ${inFile}_FILE are both set. Leave one of them out.`);
      environment[inFile] = readSecretFile(`${inFile}_FILE`, given[`${inFile}_FILE`]!);
      origins.set(key, `environment ${inFile}_FILE`);
    } else if (set !== undefined || isSetIn(given, key))
      origins.set(key, `environment ${set ?? `${names.at(-1)!}_0`}`);
  }
  return { environment, origins };
}

function isSetIn(given: Environment, key: SettingKey): boolean {
  const setting: Setting<unknown> = settings[key];
  const names = [setting.variable, ...setting.aliases];
  const hasNumbered =
    setting.isNumbered && Object.keys(given).some((name) => name.startsWith(`${names.at(-1)!}_0`));
  return (
    hasNumbered ||
    names.some((name) => given[name] !== undefined || (setting.isSecret && Boolean(given[`${name}_FILE`])))
  );
}

/** The environment of this process with what the configuration files say. */
export function configuredEnvironment(): Environment {
  return loadConfiguration(process.env).environment;
}
