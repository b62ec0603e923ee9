import type { MoreWords } from "./words.ts";

export const keepingDe: Pick<MoreWords, "import" | "trash" | "hold"> = {
  import: {
    open: "Gespräche importieren…",
    title: "Gespräche importieren",
    about:
      "Wähle Downloads oder gepackte Ordner von Gesprächen: zip, tar.gz oder jsonl. Sie kommen mit jedem Ereignis und gehen mit dem Modell deiner Einstellungen weiter. Geheimnisse werden nicht importiert.",
    files: "Dateien",
    newIds: "Jedem Gespräch eine neue Id geben",
    check: "Nur prüfen",
    start: "Importieren",
    working: (name) => `${name} wird gelesen…`,
    statuses: {
      imported: "importiert",
      unchanged: "schon vorhanden",
      would_import: "würde importiert",
      refused: "abgelehnt",
    },
    events: (count) => (count === 1 ? "1 Ereignis" : `${count} Ereignisse`),
    show: "Öffnen",
  },
  trash: {
    title: "Papierkorb",
    put: "In den Papierkorb",
    none: "Der Papierkorb ist leer.",
    until: (day) => `wird nach dem ${day} gelöscht`,
    onHold: "gesperrt",
    restore: "Wiederherstellen",
    delete: "Endgültig löschen",
    empty: "Papierkorb leeren",
    confirm: "Das lässt sich nicht rückgängig machen.",
    more: "Mehr zeigen",
  },
  hold: {
    title: "Löschsperre",
    about:
      "Ein gesperrtes Gespräch löscht niemand: keine Regel, kein Leeren des Papierkorbs und kein Mensch.",
    reason: "Grund, für alle, die es löschen wollen",
    set: "Sperren",
    lift: "Sperre aufheben",
    since: (time) => `Gesperrt seit ${time}.`,
  },
};
