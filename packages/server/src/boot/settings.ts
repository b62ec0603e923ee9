import { accessSettings } from "./settings-access.ts";
import { agentSettings } from "./settings-agents.ts";
import { networkSettings } from "./settings-network.ts";
import { storeSettings } from "./settings-store.ts";
import type { Setting } from "./setting.ts";

/**
 * Everything that can be configured: by variable, by configuration file under the key that is its name here, and some of it by
 * flag. The readers in `config*.ts`, the guide, the JSON schema and `convoke config` all come from this table.
 */
export const settings = {
  ...networkSettings,
  ...storeSettings,
  ...accessSettings,
  ...agentSettings,
} as const satisfies Readonly<Record<string, Setting<unknown>>>;

export type SettingKey = keyof typeof settings;

export const settingKeys = Object.keys(settings) as readonly SettingKey[];

/** The setting that a variable belongs to; null for any other name. */
export function settingOfVariable(name: string): SettingKey | null {
  return settingKeys.find((key) => isVariableOf(name, settings[key])) ?? null;
}

function isVariableOf(name: string, setting: Setting<unknown>): boolean {
  const names = [setting.variable, ...setting.aliases];
  if (names.includes(name)) return true;
  const family = `${names.at(-1)!}_`;
  return setting.isNumbered && name.startsWith(family) && /^\d+(_|$)/.test(name.slice(family.length));
}
