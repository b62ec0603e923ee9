import { createInterface } from "node:readline/promises";

export type Terminal = {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly isJson: boolean;
};

/** Whether to carry a plan out, or what to change about it; without a terminal, and at end of input, the answer is no. */
export async function askAboutPlan(terminal: Terminal): Promise<boolean | { readonly change: string }> {
  const answer = await askLine(terminal, "Carry the plan out? [y/N, or what to change] ");
  if (isYes(answer)) return true;
  return answer === "" || /^no?$/iu.test(answer) ? false : { change: answer };
}

function isYes(answer: string): boolean {
  return /^y(es)?$/iu.test(answer);
}

/** The line that a person enters; the empty text without a terminal, and at end of input. */
export async function askLine({ input, output, isJson }: Terminal, question: string): Promise<string> {
  if (!input.isTTY) return "";
  const prompt = createInterface({ input, output: isJson ? process.stderr : output });
  try {
    const closed = new Promise<string>((resolve) => prompt.once("close", () => resolve("")));
    return (await Promise.race([prompt.question(question), closed])).trim();
  } finally {
    prompt.close();
  }
}
