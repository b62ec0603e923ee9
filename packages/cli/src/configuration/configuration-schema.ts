import type { Setting } from "@convoke/server/setting";
import { settingKeys, settings } from "@convoke/server/settings";

/** The JSON schema of configuration files, for editors. */
export function configurationSchema(): object {
  const properties = settingKeys.flatMap((key): [string, object][] => {
    const setting: Setting<unknown> = settings[key];
    const described = { ...typeOf(setting), description: plain(setting) };
    if (!setting.isSecret) return [[key, described]];
    return [
      [key, described],
      [`${key}_file`, { type: "string", description: `A file that holds ${key}.` }],
    ];
  });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of Convoke",
    type: "object",
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}

function typeOf({ type }: Setting<unknown>): object {
  switch (type.kind) {
    case "number":
      return {
        type: type.isWhole ? "integer" : "number",
        minimum: type.least,
        ...(type.max === null ? {} : { maximum: type.max }),
      };
    case "switch":
      return { type: "boolean" };
    case "choice":
      return { enum: type.choices };
    case "list":
      return { type: ["array", "string"], items: { type: "string" } };
    case "json":
      return { type: ["array", "object", "string"] };
    default:
      return { type: "string" };
  }
}

/** The description without the marks of Markdown. */
function plain({ doc, variable }: Setting<unknown>): string {
  const text = doc.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "");
  return `${text} (${variable})`;
}
