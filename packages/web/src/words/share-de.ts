import type { MoreWords } from "./words.ts";

export const shareDe: Pick<MoreWords, "share"> = {
  share: {
    title: "Teilen",
    about:
      "Wer den Link hat, kann das Log des Gesprächs lesen, mit Befehlen, Ausgaben und Namen von Ordnern. Niemand kann etwas ändern.",
    extent: "Was er zeigt",
    whole: "Alles, auch was noch kommt",
    upToNow: "Bis jetzt",
    part: "Ein Teil",
    howLong: "Wie lange er gilt",
    days: (count) => (count === 1 ? "1 Tag" : count === 365 ? "1 Jahr" : `${count} Tage`),
    label: "Für wen er ist (nur du siehst das)",
    withPrompt: "Auch den Systemprompt und die Tools des Agenten zeigen",
    prompt: "mit Systemprompt",
    make: "Link erstellen",
    link: "Link",
    once: "Der Link wird nur jetzt angezeigt.",
    copy: "Link kopieren",
    links: "Gültige Links",
    unnamed: "Ohne Namen",
    entry: (extent, time) => `${extent}, bis ${time}`,
    revoke: "Widerrufen",
    until: (time) => `Dieses Gespräch ist zum Lesen mit dir geteilt, bis ${time}.`,
    partUntil: (time) => `Ein Teil dieses Gesprächs ist zum Lesen mit dir geteilt, bis ${time}.`,
    over: "Dieser Link gilt nicht mehr. Bitte um einen neuen, wo du ihn bekommen hast.",
  },
};
