/** Texts of the import of conversations, the trash and holds. */
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
  trash: {
    title: "Trash",
    put: "Move to trash",
    none: "The trash is empty.",
    until: (day: string) => `deleted after ${day}`,
    onHold: "on hold",
    restore: "Restore",
    delete: "Delete for ever",
    empty: "Empty the trash",
    confirm: "This cannot be undone.",
    more: "Show more",
  },
  hold: {
    title: "Hold",
    about: "Nothing deletes a conversation on hold: no rule, no emptying of the trash, and no person.",
    reason: "Reason, for people who want to delete it",
    set: "Hold",
    lift: "Lift the hold",
    since: (time: string) => `On hold since ${time}.`,
  },
} as const;
