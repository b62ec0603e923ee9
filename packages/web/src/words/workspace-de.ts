import type { MoreWords } from "./words.ts";

export const workspaceDe: Pick<MoreWords, "preview" | "replay" | "shells"> = {
  replay: {
    title: "Aufzeichnung",
    recorded: (when: string) => `Aufgezeichnet ${when}. Diese Datei stellt keine Netzwerkanfragen.`,
    unchecked: "Ihre Modellanfragen wurden nicht mit dem Log verglichen.",
    left: (count) =>
      count === 1
        ? "1 Gespräch eines Subagenten wurde weggelassen, um die Datei klein zu halten. Sein Bericht ist enthalten."
        : `${count} Gespräche von Subagenten wurden weggelassen, um die Datei klein zu halten. Ihre Berichte sind enthalten.`,
  },
  preview: {
    title: "Vorschau",
    ports: "Ports",
    port: (port, program) => (program === "" ? `${port}` : `${port} ${program}`),
    path: "Pfad",
    reload: "Neu laden",
    scan: "Nach Ports suchen",
    frame: (port) => `Vorschau von Port ${port}`,
    none: "Kein Programm im Ordner dieses Gesprächs lauscht auf einem Port. Starte eines und suche dann noch einmal.",
    choose: "Wähle einen Port für die Vorschau.",
    note: "Von dieser Seite isoliert: Die Vorschau kann deine Anmeldung nicht nutzen, und ihre Cookies und ihr Speicher bleiben nicht erhalten.",
  },
  shells: {
    title: "Shells",
    tabs: "Offene Shells",
    open: "Neue Shell",
    end: "Beenden",
    input: "Tastatureingabe der Shell",
    none: "Deine eigene Shell im Ordner des Gesprächs, getrennt von der des Agenten. Sie läuft weiter, wenn du gehst, bis das Gespräch oder der Server endet.",
    name: (number, isRunning) => (isRunning ? `Shell ${number}` : `Shell ${number}, beendet`),
    ended: (exitCode) =>
      exitCode === null ? "Die Shell ist beendet." : `Die Shell ist beendet, mit Exit-Code ${exitCode}.`,
    leave: "Strg+] verlässt das Terminal.",
  },
};
