/** Texts of share links: the dialog, and what visitors see. */
export const shareEn = {
  share: {
    title: "Share",
    about:
      "Everybody with the link can read the conversation's log, with commands, outputs and folder names. Nobody can change anything.",
    extent: "What it shows",
    whole: "Everything, also what follows",
    upToNow: "Up to now",
    part: "A part",
    howLong: "How long it works",
    days: (count: number) => (count === 1 ? "1 day" : count === 365 ? "1 year" : `${count} days`),
    label: "Whom it is for (only you see this)",
    withPrompt: "Show the system prompt and the tools of the agent too",
    prompt: "with the system prompt",
    make: "Create link",
    link: "Link",
    once: "The link is shown only now.",
    copy: "Copy the link",
    links: "Links that work",
    unnamed: "Without a name",
    entry: (extent: string, time: string) => `${extent}, until ${time}`,
    revoke: "Revoke",
    until: (time: string) => `This conversation is shared with you to read, until ${time}.`,
    partUntil: (time: string) => `A part of this conversation is shared with you to read, until ${time}.`,
    over: "This link does not work any more. Ask the person who gave it to you for a new one.",
  },
} as const;
