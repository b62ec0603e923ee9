import { createInterface } from "node:readline/promises";

/** Asks yes or no at the terminal; without one, and at end of input, the answer is no. */
export async function askApproval(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  isJson: boolean,
): Promise<boolean> {
  if (!input.isTTY) return false;
  const prompt = createInterface({ input, output: isJson ? process.stderr : output });
  try {
    const closed = new Promise<string>((resolve) => prompt.once("close", () => resolve("")));
    const answer = await Promise.race([prompt.question("Run this? [y/N] "), closed]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}
