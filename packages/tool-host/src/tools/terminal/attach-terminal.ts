import { attachPerson } from "../../attach-person.ts";
import { withinSize } from "../../processes/person-shell.ts";
import type { TerminalInput, TerminalUpdate } from "../../terminal-attachment.ts";
import type { TerminalSession } from "./terminal-session.ts";

/** Connects one person to one terminal, see `AttachTerminal`. */
export function attachTerminal(
  session: TerminalSession,
  inputs: AsyncIterable<TerminalInput>,
  signal: AbortSignal,
): AsyncGenerator<TerminalUpdate> {
  const { view, loans } = session;
  const terminal = {
    watch: (person: object) => view.watch(person),
    act: (person: object, input: TerminalInput) => act(session, person, input),
    refuse: (person: object, reason: string) => view.send(person, { type: "refused", reason }),
    leave: (person: object) => loans.giveBack(person),
  };
  return attachPerson(terminal, inputs, signal);
}

/** The reason for a refusal; null when it was done. */
function act(session: TerminalSession, person: object, input: TerminalInput): string | null {
  switch (input.type) {
    case "take":
      return session.loans.lend(person, withinSize(input)) ? null : "Somebody else has the terminal.";
    case "give":
      session.loans.giveBack(person);
      return null;
    case "type":
      return session.loans.type(person, input.text) ? null : notYours;
    case "resize":
      return session.loans.resize(person, withinSize(input)) ? null : notYours;
  }
}

const notYours = "You do not have the terminal. Take it first.";
