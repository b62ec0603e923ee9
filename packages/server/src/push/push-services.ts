/** Tells whether a browser may be reached at an address. */
export type PushServices = (endpoint: URL) => boolean;

/** The services of the browsers' makers: Chrome and those that are made from it, Firefox, Edge, Safari. */
const ofBrowsers = [
  "fcm.googleapis.com",
  "*.push.services.mozilla.com",
  "*.notify.windows.com",
  "*.push.apple.com",
].join(",");

/**
 * Reads a list of hosts (`*.` stands for any names before it) and of origins; null is that of the browsers' makers. A browser says
 * itself where it is reached, and nothing else is called for it. Hosts are reached by https at its own port.
 */
export function readPushServices(text: string | null, fail: (entry: string) => never): PushServices {
  const rules = (text ?? ofBrowsers)
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== "")
    .map((entry) => ruleOf(entry, fail));
  return (endpoint) =>
    endpoint.username === "" && endpoint.password === "" && rules.some((rule) => rule(endpoint));
}

function ruleOf(entry: string, fail: (entry: string) => never): PushServices {
  if (/^https?:\/\//.test(entry)) {
    const origin = URL.canParse(entry) ? new URL(entry).origin : fail(entry);
    return (endpoint) => endpoint.origin === origin;
  }
  if (!/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(entry)) fail(entry);
  return ({ protocol, port, hostname }) =>
    protocol === "https:" &&
    port === "" &&
    (entry.startsWith("*.") ? hostname.endsWith(entry.slice(1)) : hostname === entry);
}
