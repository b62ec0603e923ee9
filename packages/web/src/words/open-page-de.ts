import type { MoreWords } from "./words.ts";

export const openPageDe: Pick<MoreWords, "upkeep" | "mcp" | "goesOn"> = {
  upkeep: {
    newer: "Eine neue Version dieser Seite ist verfügbar. Deine Entwürfe bleiben erhalten.",
    reload: "Neu laden",
  },
  mcp: {
    title: "MCP-Server",
    none: "Dieses Gespräch hat keine MCP-Server. Änderungen in den Einstellungen gelten für neue Gespräche.",
    states: {
      waiting: "noch nicht verbunden",
      connecting: "verbindet",
      connected: "verbunden",
      failed: "fehlgeschlagen",
      needs_login: "Anmeldung nötig",
    },
    reconnect: "Neu verbinden",
    login:
      "Er verlangt eine Anmeldung oder einen API-Schlüssel. Richte das in den Einstellungen ein; es gilt für neue Gespräche.",
    retryAt: (at) => `Nächster automatischer Versuch um ${at}.`,
  },
  goesOn: "Der Agent macht ohne weiter.",
};
