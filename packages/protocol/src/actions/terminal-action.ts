import { Type, type Static } from "typebox";
import { flag, orNull } from "../schema.ts";
import { action } from "./action-fields.ts";

/** One command, or one input, for the persistent shell. */
export const TerminalAction = action("TerminalAction", {
  command: Type.String({
    description:
      "The shell command to run, or, with is_input, what to type into the running program. Chain several commands with && or ;. Empty text fetches new output of a command that is still running. C-c, C-d and C-z are sent as keys.",
  }),
  is_input: flag(false, {
    description: "True to send the text to the program that is running now; false to start a new command.",
  }),
  timeout: orNull(Type.Number({ minimum: 0 }), {
    description:
      "Seconds to wait for the command before answering with what it has printed so far; the command itself goes on. Leave out to use the quiet-time rule.",
  }),
  reset: flag(false, {
    description:
      "True to end the shell and everything in it and start a fresh one; variables and directory are lost. Cannot be combined with is_input.",
  }),
});
export type TerminalAction = Static<typeof TerminalAction>;
