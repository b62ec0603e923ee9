export const notifications = ["bell", "osc9", "osc99", "osc777", "off"] as const;
export type Notifications = (typeof notifications)[number];

export type AttentionDeps = {
  readonly write: (text: string) => void;
  readonly notifications: Notifications;
  /** False where nothing but lines may be written. */
  readonly hasTitle: boolean;
  /** Inside tmux, which passes on what is wrapped for it, and shows a bell of its own. */
  readonly isTmux: boolean;
};

/** Shorter waits are no news. */
const quietMs = 10_000;

/** Calls for a person whose window has no focus; terminals that report no focus are taken for ones that have it. */
export class Attention {
  readonly #deps: AttentionDeps;
  #isFocused = true;

  constructor(deps: AttentionDeps) {
    this.#deps = deps;
  }

  setFocus(isFocused: boolean): void {
    this.#isFocused = isFocused;
  }

  /** `afterMs`: how long the person has waited for it. */
  call(text: string, afterMs: number): void {
    const { write, notifications, isTmux } = this.#deps;
    if (this.#isFocused || afterMs < quietMs || notifications === "off") return;
    const sequences = sequencesOf(notifications, text.replaceAll(";", ","));
    const sent = isTmux ? sequences.map(throughTmux) : sequences;
    write(`${sent.join("")}${sequences.length === 0 || isTmux ? "\u0007" : ""}`);
  }

  /** The title of the window. */
  title(text: string): void {
    if (this.#deps.hasTitle) this.#deps.write(`\u001b]2;${text}\u0007`);
  }
}

function throughTmux(sequence: string): string {
  return `\u001bPtmux;${sequence.replaceAll("\u001b", "\u001b\u001b")}\u001b\\`;
}

function sequencesOf(kind: Notifications, text: string): readonly string[] {
  switch (kind) {
    case "osc9":
      return [`\u001b]9;${text}\u0007`];
    case "osc777":
      return [`\u001b]777;notify;Convoke;${text}\u0007`];
    case "osc99":
      // The second part ends the notification of the first; `i` is its name, so that a newer one takes its place.
      return [`\u001b]99;i=convoke:d=0;Convoke\u001b\\`, `\u001b]99;i=convoke:p=body;${text}\u001b\\`];
    default:
      return [];
  }
}
