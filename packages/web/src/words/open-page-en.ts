/** Texts of a page that stays open. */
export const openPageEn = {
  list: {
    none: "No conversations yet.",
    noneFound: "No matches.",
    failed: "The list could not be loaded.",
  },
  attachedImages: {
    image: (number: number) => `Image ${number}`,
    remove: (number: number) => `Remove image ${number}`,
  },
  cardBody: {
    blockedBecause: (reason: string) => `Blocked. ${reason}`,
    rejectedBecause: (reason: string) => `Rejected. ${reason}`,
    earlierOutput: (lines: number) => `Show ${lines} earlier lines`,
    noOutput: "No output.",
    whole: "Show the whole output",
    wholeFailed: "Failed. Try again",
  },
  retryLine: {
    retry: (attempt: number, seconds: number) =>
      `The model is not responding. Attempt ${attempt + 1} in ${seconds} s.`,
    servers: (seconds: number) => `Waiting for MCP servers to start, at most ${seconds} s more.`,
  },
  network: {
    title: "Network",
    none: "Nothing has left this conversation's wall or sandbox yet, or there is none.",
    requests: (count: number) => (count === 1 ? "1 request" : `${count} requests`),
    refusals: (count: number) => `${count} refused`,
    bytes: (sent: string, received: string) => `${sent} sent, ${received} received`,
    allow: "Allow",
    allowHost: (host: string) => `Allow ${host}`,
    allowed: "allowed",
  },
  mcp: {
    title: "MCP servers",
    none: "This conversation has no MCP servers. Changes in the settings apply to new conversations.",
    states: {
      waiting: "not connected yet",
      connecting: "connecting",
      connected: "connected",
      failed: "failed",
      needs_login: "login required",
    },
    reconnect: "Reconnect",
    login: "It requires a login or an API key. Set it in the settings; it applies to new conversations.",
    retryAt: (at: string) => `Next automatic retry at ${at}.`,
  },
  continuesWithout: "The agent continues without it.",
};
