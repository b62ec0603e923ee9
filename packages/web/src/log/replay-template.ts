/** Where the template of the file has what differs from conversation to conversation, in their order. */
export const slots = {
  language: "%CONVOKE_LANGUAGE%",
  title: "%CONVOKE_TITLE%",
  facts: "%CONVOKE_FACTS%",
  events: "%CONVOKE_EVENTS%",
  tasks: "%CONVOKE_TASKS%",
} as const;
export const slotNames: readonly string[] = Object.values(slots);

/** The name of the template beside the page's other files. */
export const templateFile = "replay.txt";
