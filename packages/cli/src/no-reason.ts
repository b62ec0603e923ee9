/** What the agent reads of a person who rejects an action and does not say why. */
export const noReason = "Not approved at the terminal.";
