/** WebSocket close codes that clients can rely on; explained in docs/guides/websocket.md. */
export const closeCodes = {
  leaving: 1001,
  internal: 1011,
  tryAgainLater: 1013,
  authFailed: 4001,
  notFound: 4004,
  tooSlow: 4008,
  badResume: 4022,
} as const;
