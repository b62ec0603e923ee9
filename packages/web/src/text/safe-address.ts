const allowed = new Set(["http:", "https:", "mailto:"]);

/** The address of a link that an agent wrote, when it leads to the web or to a mail; null for scripts, data and paths. */
export function safeAddress(address: string): string | null {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(address)) return null;
  const url = URL.parse(address);
  return url !== null && allowed.has(url.protocol) ? url.href : null;
}
