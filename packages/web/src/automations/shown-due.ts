/** A due time with its weekday, in the given zone; in that of the browser where the zone is unknown here. */
export function shownDue(at: string, language: string, timeZone?: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  const style = {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
  } as const;
  if (timeZone !== undefined && timeZones().includes(timeZone))
    return new Intl.DateTimeFormat(language, { ...style, timeZone }).format(date);
  return new Intl.DateTimeFormat(language, style).format(date);
}

/** The zones that the browser knows, with UTC. */
export function timeZones(): readonly string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC")];
}

/** `Sun` to `Sat` in a language; 0 is Sunday. */
export function weekdayNames(language: string): readonly string[] {
  const format = new Intl.DateTimeFormat(language, { weekday: "short", timeZone: "UTC" });
  // 7 January 2024 was a Sunday.
  return Array.from({ length: 7 }, (_, day) => format.format(Date.UTC(2024, 0, 7 + day)));
}
