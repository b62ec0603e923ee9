const allowed = new Set(["http:", "https:", "mailto:"]);

/**
 * The address of a link in an agent's text, if it is an http, https or mailto link; null for scripts, data URLs and
 * paths.
 */
export function safeAddress(address: string): string | null {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(address)) return null;
  const url = URL.parse(address);
  return url !== null && allowed.has(url.protocol) ? url.href : null;
}
