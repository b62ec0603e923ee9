import type { MoreWords } from "./words.ts";

export const openPageDe: Pick<MoreWords, "upkeep" | "mcp" | "goesOn"> = {
  upkeep: {
    newer: "Es gibt eine neue Version dieser Seite. Was du geschrieben hast, bleibt.",
    reload: "Neu laden",
  },
  mcp: {
    title: "MCP-Server",
    none: "Diese Unterhaltung hat keine MCP-Server. Die der Einstellungen gelten für Unterhaltungen, die später beginnen.",
    states: {
      waiting: "noch nicht gebraucht",
      connecting: "verbindet",
      connected: "verbunden",
      failed: "gescheitert",
      needs_login: "will eine Anmeldung",
    },
    reconnect: "Neu verbinden",
    login:
      "Er lässt ohne Anmeldung oder Schlüssel niemanden ein. Das lässt sich in den Einstellungen für Unterhaltungen ändern, die später beginnen.",
    retryAt: (at) => `Wird um ${at} von selbst wieder versucht.`,
  },
  goesOn: "Der Agent macht weiter.",
};
