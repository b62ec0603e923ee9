/** Words of a page that stays open while servers come and go. */
export const openPageEn = {
  upkeep: {
    newer: "There is a new version of this page. What you wrote is kept.",
    reload: "Reload",
  },
  mcp: {
    title: "MCP servers",
    none: "This conversation has no MCP servers. Those of the settings are for conversations that begin later.",
    states: {
      waiting: "not needed yet",
      connecting: "connecting",
      connected: "connected",
      failed: "failed",
      needs_login: "wants a login",
    },
    reconnect: "Reconnect",
    login:
      "It lets nobody in without a login or a key. Change that in the settings for conversations that begin later.",
    retryAt: (at: string) => `Tried again by itself at ${at}.`,
  },
  goesOn: "The agent goes on.",
};
