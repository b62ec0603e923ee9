import type { MoreWords } from "./words.ts";

export const workspaceDe: Pick<MoreWords, "shells"> = {
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
