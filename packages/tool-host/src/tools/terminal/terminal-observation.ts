import type { CmdOutputMetadata, TerminalObservation } from "@convoke/protocol";
import { hostname } from "node:os";
import { userName } from "../../processes/user-name.ts";
import { textPart } from "../observation-content.ts";
import type { CommandEnd } from "./shell-messages.ts";

/** The varying parts of the terminal's answers. */
export type TerminalAnswer = {
  readonly command: string;
  readonly text: string;
  /** -1: still running. null: nothing was run. */
  readonly exitCode: number | null;
  readonly isError?: boolean;
  readonly isTimeout?: boolean;
  /** The shell's report at the end of the command. */
  readonly end?: CommandEnd;
  readonly prefix?: string;
  readonly suffix?: string;
};

/** The wire form of an answer with all fields; `hide` masks secrets in texts that are not from the output log. */
export function toTerminalObservation(
  answer: TerminalAnswer,
  outputDirectory: string,
  hide: (text: string) => string,
): TerminalObservation {
  const { end } = answer;
  const metadata: Required<CmdOutputMetadata> = {
    exit_code: end?.exitCode ?? -1,
    pid: end?.backgroundPid ?? -1,
    username: end === undefined ? null : userName(),
    hostname: end === undefined ? null : hostname(),
    working_dir: end === undefined ? null : hide(end.workingDir),
    py_interpreter_path: end === undefined ? null : hide(end.pythonPath),
    prefix: hide(answer.prefix ?? ""),
    suffix: hide(answer.suffix ?? ""),
  };
  return {
    kind: "TerminalObservation",
    content: [textPart(trimOutput(answer.text))],
    is_error: answer.isError ?? false,
    command: hide(answer.command),
    exit_code: answer.exitCode,
    timeout: answer.isTimeout ?? false,
    metadata,
    full_output_save_dir: outputDirectory,
  };
}

/** Removes blank lines before and blanks after the text; colour codes at its end stay. */
function trimOutput(text: string): string {
  let trimmed = text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
  let codes = "";
  for (;;) {
    // oxlint-disable-next-line no-control-regex -- colour codes begin with the escape character
    const code = /\u001b\[[\d;:]*m$/.exec(trimmed.slice(-30))?.[0];
    if (code === undefined) return trimmed + codes;
    codes = code + codes;
    trimmed = trimmed.slice(0, -code.length).trimEnd();
  }
}
