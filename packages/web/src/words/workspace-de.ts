import type { MoreWords } from "./words.ts";

export const workspaceDe: Pick<MoreWords, "preview" | "replay" | "shells"> = {
  replay: {
    title: "Aufzeichnung",
    recorded: (when: string) => `Aufgezeichnet ${when}. Diese Datei fragt niemanden nach etwas.`,
    unchecked: "Ob ihre Anfragen an das Modell aus ihr folgen, wurde nicht geprüft.",
    left: (count) =>
      count === 1
        ? "Das Gespräch eines Unteragenten ist nicht in dieser Datei, die sonst zu groß geworden wäre; sein Bericht ist es."
        : `${count} Gespräche von Unteragenten sind nicht in dieser Datei, die sonst zu groß geworden wäre; ihre Berichte sind es.`,
  },
  preview: {
    title: "Vorschau",
    ports: "Ports",
    port: (port, program) => (program === "" ? `${port}` : `${port} ${program}`),
    path: "Adresse auf dem Port",
    reload: "Neu laden",
    look: "Nach Ports sehen",
    frame: (port) => `Was Port ${port} zeigt`,
    none: "Kein Programm im Ordner dieses Gesprächs lauscht auf einem Port. Starte eines und sieh dann noch einmal nach.",
    choose: "Wähle einen Port, um zu sehen, was er zeigt.",
    note: "Die Vorschau läuft getrennt von dieser Seite: Sie weiß nichts von deiner Anmeldung, und Cookies und Speicher bleiben nicht.",
  },
  shells: {
    title: "Shells",
    tabs: "Offene Shells",
    open: "Neue Shell",
    end: "Beenden",
    input: "Tastatur der Shell",
    none: "Eine eigene Shell im Ordner dieses Gesprächs, neben dem Agenten. Sie läuft weiter, während du woanders bist, und endet mit dem Gespräch oder dem Server.",
    name: (number, isRunning) => (isRunning ? `Shell ${number}` : `Shell ${number}, beendet`),
    ended: (exitCode) =>
      exitCode === null ? "Die Shell ist beendet." : `Die Shell ist beendet, mit Code ${exitCode}.`,
    leave: "Strg und ] verlässt das Terminal.",
  },
};
