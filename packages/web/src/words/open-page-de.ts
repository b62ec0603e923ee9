import type { MoreWords } from "./words.ts";

export const openPageDe: Pick<
  MoreWords,
  "attachedImages" | "list" | "cardBody" | "retryLine" | "mcp" | "network" | "continuesWithout"
> = {
  list: {
    none: "Noch keine Gespräche.",
    noneFound: "Keine Treffer.",
    failed: "Die Liste konnte nicht geladen werden.",
  },
  attachedImages: {
    image: (number) => `Bild ${number}`,
    remove: (number) => `Bild ${number} entfernen`,
  },
  cardBody: {
    blockedBecause: (reason) => `Blockiert. ${reason}`,
    rejectedBecause: (reason) => `Abgelehnt. ${reason}`,
    earlierOutput: (lines) => `${lines} frühere Zeilen zeigen`,
    noOutput: "Keine Ausgabe.",
    whole: "Ganze Ausgabe zeigen",
    wholeFailed: "Fehlgeschlagen. Noch einmal",
  },
  retryLine: {
    retry: (attempt, seconds) => `Das Modell antwortet nicht. Versuch ${attempt + 1} in ${seconds} s.`,
    servers: (seconds) => `Wartet auf den Start von MCP-Servern, höchstens noch ${seconds} s.`,
  },
  network: {
    title: "Netzwerk",
    none: "Aus der Abschirmung oder Sandbox dieses Gesprächs wurde noch nichts gesendet, oder es hat keine.",
    requests: (count) => (count === 1 ? "1 Anfrage" : `${count} Anfragen`),
    refusals: (count) => `${count} abgewiesen`,
    bytes: (sent, received) => `${sent} gesendet, ${received} empfangen`,
    allow: "Erlauben",
    allowHost: (host) => `${host} erlauben`,
    allowed: "erlaubt",
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
  continuesWithout: "Der Agent arbeitet ohne diese Funktion weiter.",
};
