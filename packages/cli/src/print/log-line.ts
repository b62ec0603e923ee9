import { printable } from "./printable.ts";

/** Levels of log lines by name, as pino numbers them. */
export const logLevels = { debug: 20, info: 30, warn: 40, error: 50, fatal: 60 } as const;

export type LogLevel = keyof typeof logLevels;

/**
 * A line of the server's log for people, or as it is with `isJson`; null for one below the level. What is no log line, such as the
 * welcome of a start, is shown as it is.
 */
export function describeLogLine(line: string, least: LogLevel, isJson: boolean): string | null {
  const entry = parse(line);
  if (entry === null) return isJson ? null : printable(line);
  const { level, time, msg = "", ...fields } = entry;
  if (typeof level === "number" && level < logLevels[least]) return null;
  if (isJson) return line;
  const name = Object.entries(logLevels).find(([, number]) => number === level)?.[0] ?? String(level);
  const instant = typeof time === "number" ? new Date(time).toISOString() : "";
  const { pid: _, hostname: __, ...shown } = fields;
  const more = Object.entries(shown).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  return printable(`${instant}  ${name.padEnd(5)}  ${String(msg)}${more.join("")}`);
}

function parse(
  line: string,
): { level?: unknown; time?: unknown; msg?: unknown; [field: string]: unknown } | null {
  if (!line.startsWith("{")) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    // A line that was cut off.
    return null;
  }
}
