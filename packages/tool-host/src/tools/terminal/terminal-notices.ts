/** Sentences that the terminal adds for the model. A prefix ends with a newline, a suffix begins with one. */
export const notices = {
  quiet: (seconds: number) =>
    `\n[Nothing new was printed for ${seconds} seconds. The command is still running. ${ways}]`,
  deadline: (seconds: number) => `\n[The command is still running after ${seconds} seconds. ${ways}]`,
  longest: (seconds: number) =>
    `\n[The command is still running and printing after ${seconds} seconds. ${ways}]`,
  flood: (characters: number) =>
    `\n[The command printed more than ${characters} characters and is held until its output is read on. ${ways}]`,
  busy: (command: string) =>
    `\n[This command was NOT run: the previous one (${shorten(command)}) is still running. ${ways} Or set reset to true.]`,
  stopped: "\n[The command was stopped on request before it had ended.]",
  keySent: (key: string) => `\n[${key} was sent.]`,
  inputNotSent: "\n[The command had ended before; the input was not sent.]",
  previousOutput: "[New output of the command that is still running:]\n",
  endedMeanwhile: (command: string, exitCode: number, output: string) =>
    `[Since the last call, the command ${shorten(command)} ended with exit code ${exitCode}.${output === "" ? "" : ` The end of its output:\n${output}\n`}]\n`,
  person: (output: string) =>
    `[Since the last call a person had this terminal.${output === "" ? "" : ` The end of what it showed:\n${output}\n`}]\n`,
  personLeft: "[Since the last call a person had this terminal, and left a program running in it.]\n",
  /** Placeholder for a person's session where commands are named. */
  personsCommand: "(what a person does at the prompt)",
  handBackFailed: (reason: string) => `[A person had this terminal, and giving it back failed: ${reason}]\n`,
  waitsForPerson: "A person has this terminal; the command begins when it is given back.",
  died: (exitCode: number) =>
    `\n[The shell itself ended with exit code ${exitCode}. The next command gets a new shell: variables, functions and the working directory are lost. Use (exit n) or a script to leave with a status without ending the shell.]`,
  diedMeanwhile:
    "[The shell had ended since the last call and was replaced: variables, functions and the working directory are lost.]\n",
  restarted:
    "[The terminal was started anew since the last command: variables, functions, running programs and the working directory are lost.]\n",
  reset:
    "The terminal was reset: all its programs were ended, and a new shell is in the first working directory.",
  dataLiteral:
    "This looks like data (a list or an object), not a shell command, so it was not run. Give the command as plain text.",
  nothingToRead: "No command is running, so there is no output to read.",
  nothingToType: "No command is running, so there is nothing to send input to.",
  severalStatements: (statements: readonly string[]) =>
    `Only one statement can be run at a time. Chain them with && or ;, or call once for each:\n${statements.map((statement, index) => `(${index + 1}) ${statement}`).join("\n")}`,
  aboveIdleCap: (requested: number, cap: number) =>
    `A timeout of ${requested} seconds is too long: this machine is stopped when it seems idle, so at most ${cap} seconds can be waited for in one call. Use a smaller timeout and read on with an empty command, or run the program in the background with its output in a file.`,
  unresponsive:
    "The shell did not answer, so the command was not run. It was replaced by a new one: variables and the working directory are lost. Give the command again.",
};

const ways =
  "Send an empty command to read on, text with is_input to answer it, or keys such as C-c, C-d or C-z with is_input.";

const longestShown = 200;

/** A command on one line. */
export function shorten(command: string): string {
  const line = command.replaceAll(/\s+/g, " ");
  return line.length > longestShown ? `${line.slice(0, longestShown)}...` : line;
}
