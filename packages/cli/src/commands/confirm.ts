import type { ApiOptions } from "../api/server-command.ts";
import { askLine } from "../ask-approval.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { printable } from "../print/printable.ts";

type Confirmation = {
  /** Printed before the question. */
  readonly lines: readonly string[];
  readonly question: string;
  /** What `--yes` does without a question, such as "delete". */
  readonly purpose: string;
  /** Said after any other answer than yes. */
  readonly refusal: string;
};

/** Asks a person at the terminal, unless `--yes` was given; throws where nobody agreed or nobody can be asked. */
export async function confirm(
  { lines, question, purpose, refusal }: Confirmation,
  { yes, json }: ApiOptions & { readonly yes?: true },
): Promise<void> {
  if (yes === true) return;
  const { stdin: input, stdout: output } = process;
  if (!input.isTTY)
    throw new CommandError(
      `There is no terminal to ask at. Add --yes to ${purpose} without a question.`,
      exitCodes.usage,
    );
  for (const line of lines) console.error(printable(line));
  const answer = await askLine({ input, output, isJson: json === true }, `${question} [y/N] `);
  if (!/^y(es)?$/iu.test(answer)) throw new CommandError(refusal);
}
