import type { Warning } from "../events/warning.ts";

/** Prefix that identifies such a warning. */
const kind = { code: "fields_unused" } as const;

/** Maximum number of reported names, so that a client with invented names cannot fill a log. */
const maxReported = 100;

/** The warning about request fields without effect; null if there is nothing new to report. */
export function unusedWarning(fields: readonly string[], reported: readonly string[] = []): Warning | null {
  const news = [...new Set(fields)]
    .filter((field) => !reported.includes(field))
    .slice(0, maxReported - reported.length);
  if (news.length === 0) return null;
  const detail = `These fields of a request change nothing here: ${news.join(", ")}.`;
  return { ...kind, detail, fields: news };
}

/** The fields that a warning names. */
export function unusedFieldsOf(warning: unknown): readonly string[] {
  const { code, fields } = (warning ?? {}) as { readonly code?: unknown; readonly fields?: unknown };
  return code === kind.code && Array.isArray(fields) ? fields.map(String) : [];
}
