/** Words of a page that stays open while servers come and go. */
export const openPageEn = {
  upkeep: {
    newer: "A new version of this page is available. Your drafts are kept.",
    reload: "Reload",
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
  goesOn: "The agent continues without it.",
};
