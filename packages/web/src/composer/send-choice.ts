/** What the two ways to send do in a state of the agent. */
export type SendChoice = {
  readonly enter: "send" | "add" | "go-on";
  /** Ctrl+Enter, where it does something else. */
  readonly ctrlEnter: "stop-and-send" | null;
};

/** The server takes a message in every state; what becomes of it differs, and the button says so. */
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
