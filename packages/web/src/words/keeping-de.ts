import type { MoreWords } from "./words.ts";

export const keepingDe: Pick<MoreWords, "import"> = {
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
};
