/** What Enter and Ctrl+Enter do in a state of the agent. */
export type SendChoice = {
  readonly enter: "send" | "add" | "go-on";
  /** Ctrl+Enter, where it does something else. */
  readonly ctrlEnter: "stop-and-send" | null;
};

/** The server accepts a message in every state; the label of the button says what happens to it. */
export function sendChoice(status: string): SendChoice {
  switch (status) {
    case "running":
      return { enter: "add", ctrlEnter: "stop-and-send" };
    case "waiting_for_confirmation":
      return { enter: "add", ctrlEnter: null };
    case "paused":
    case "error":
    case "stuck":
      return { enter: "go-on", ctrlEnter: null };
    default:
      return { enter: "send", ctrlEnter: null };
  }
}
