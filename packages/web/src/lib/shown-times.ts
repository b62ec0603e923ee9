/** The time of day, with the date when it is another day. */
export function shownTime(at: string, language: string, now: Date): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  const time = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit" }).format(date);
  if (date.toDateString() === now.toDateString()) return time;
  return new Intl.DateTimeFormat(language, { day: "numeric", month: "short" }).format(date);
}

/** Date and time to the second, for who wants to know exactly. */
export function exactTime(at: string, language: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" }).format(date);
}

export type Day = "today" | "yesterday" | "week" | "older";

/** How long ago, in the steps of a list. */
export function dayOf(at: string, now: Date): Day {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const time = Date.parse(at);
  const dayMs = 86_400_000;
  if (time >= midnight) return "today";
  if (time >= midnight - dayMs) return "yesterday";
  return time >= midnight - 6 * dayMs ? "week" : "older";
}
