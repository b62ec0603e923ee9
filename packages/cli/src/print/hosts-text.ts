/** The hosts that a call asks for and why; null for a call of another kind. A model's summary could leave hosts out. */
export function hostsText(action: Readonly<Record<string, unknown>> | null | undefined): string | null {
  const { hosts, reason } = (action?.["data"] ?? {}) as {
    readonly hosts?: unknown;
    readonly reason?: unknown;
  };
  if (!Array.isArray(hosts)) return null;
  const why = typeof reason === "string" ? `: ${reason}` : "";
  return `${hosts.map(String).join(", ")}${why}`;
}
