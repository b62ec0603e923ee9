/** Texts of the import of conversations. */
export const keepingEn = {
  import: {
    open: "Import conversations…",
    title: "Import conversations",
    about:
      "Choose downloads or packed folders of conversations: zip, tar.gz or jsonl. They come with every event, and go on with the model of your settings. Secrets are not imported.",
    files: "Files",
    newIds: "Give each conversation a new id",
    check: "Check only",
    start: "Import",
    working: (name: string) => `Reading ${name}…`,
    statuses: {
      imported: "imported",
      unchanged: "here already",
      would_import: "would be imported",
      refused: "refused",
    },
    events: (count: number) => (count === 1 ? "1 event" : `${count} events`),
    show: "Open",
  },
} as const;
