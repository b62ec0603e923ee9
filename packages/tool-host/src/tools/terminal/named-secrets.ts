import type { ToolSecret } from "../../tool.ts";

/** The secrets whose whole name occurs in `command` as a word (`$NAME`, `${NAME}`, `NAME`); case-sensitive. */
export function namedSecrets(command: string, secrets: readonly ToolSecret[]): ToolSecret[] {
  const words = new Set(command.match(/[A-Za-z0-9_]+/g));
  return secrets.filter((secret) => /^[A-Za-z_]\w*$/.test(secret.name) && words.has(secret.name));
}
