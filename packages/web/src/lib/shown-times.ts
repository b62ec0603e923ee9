const styles = {
  time: { hour: "2-digit", minute: "2-digit" },
  day: { day: "numeric", month: "short" },
  exact: { dateStyle: "medium", timeStyle: "medium" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Formatters are cached: creating one takes longer than rendering a row. */
function formatOf(style: keyof typeof styles, language: string): Intl.DateTimeFormat {
  const name = `${style} ${language}`;
  const format = formats.get(name) ?? new Intl.DateTimeFormat(language, styles[style]);
  formats.set(name, format);
  return format;
}

/** The time of day, with the date when it is another day. */
export function shownTime(at: string, language: string, now: Date): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  const isToday = date.toDateString() === now.toDateString();
  return formatOf(isToday ? "time" : "day", language).format(date);
}

/** Date and time to the second. */
export function exactTime(at: string, language: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  return formatOf("exact", language).format(date);
}

export type Day = "today" | "yesterday" | "week" | "older";

/** Relative time, rounded for a list. */
export function dayOf(at: string, now: Date): Day {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const time = Date.parse(at);
  const dayMs = 86_400_000;
  if (time >= midnight) return "today";
  if (time >= midnight - dayMs) return "yesterday";
  return time >= midnight - 6 * dayMs ? "week" : "older";
}
