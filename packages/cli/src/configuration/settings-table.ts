import type { Setting } from "@convoke/server/setting";
import { settingKeys, settings } from "@convoke/server/settings";

/** The table of docs/guides/configuration.md. */
export function settingsTable(): string {
  const rows = settingKeys.map((key) => {
    const setting: Setting<unknown> = settings[key];
    const names = [setting.variable, ...setting.aliases].map((name) => `\`${name}\``).join(", ");
    const flag = setting.flag === null ? "" : `; \`${setting.flag}\``;
    const secret = setting.isSecret ? ` **secret**` : "";
    return `| \`${key}\`${secret} | ${names}${flag} | ${setting.doc} | ${setting.shownDefault} |`;
  });
  return ["| Key | Variable and flag | Meaning | Default |", "| --- | --- | --- | --- |", ...rows].join("\n");
}
