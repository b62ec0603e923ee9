import type { SecretSourceInput } from "@convoke/protocol";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { CommandError, exitCodes } from "./exit-codes.ts";

export type SecretInput = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Where questions are written. */
  readonly output: NodeJS.WritableStream;
};

/**
 * Secrets of a conversation from `NAME@host` or `NAME@host1,host2`. Their values come from the variables of these names, else from the
 * person at the terminal, who does not see them, else from one line of standard input each. Never from arguments, which every process of
 * the machine can read. Throws a {@link CommandError}.
 */
export async function readSecrets(
  given: readonly string[],
  source: SecretInput,
): Promise<Record<string, SecretSourceInput>> {
  const secrets: Record<string, SecretSourceInput> = {};
  const readLine = source.input.isTTY === true ? askHidden(source) : lineByLine(source.input);
  for (const option of given) {
    const { name, hosts } = parseSecret(option);
    const value = source.environment[name] || (await readLine(name));
    if (value === "")
      throw new CommandError(
        `There is no value for the secret ${name}. Set the variable ${name}, or write the value to standard input.`,
        exitCodes.usage,
      );
    secrets[name] = { kind: "StaticSecret", value, hosts };
  }
  return secrets;
}

/** For the command line: what it may have instead of a host is a value, so that nothing of it is repeated. */
export function parseSecret(option: string): { readonly name: string; readonly hosts: string[] } {
  const [, name, list] = /^([A-Za-z_]\w*)@([^@]+)$/.exec(option) ?? [];
  const hosts = (list ?? "").split(",").map((host) => host.trim());
  if (name === undefined || hosts.includes(""))
    throw new CommandError(
      "--secret must be NAME@host or NAME@host1,host2. The value comes from the variable NAME or from standard input.",
      exitCodes.usage,
    );
  return { name, hosts };
}

function askHidden({ input, output }: SecretInput): (name: string) => Promise<string> {
  return async (name) => {
    output.write(`Value of ${name} (it is not shown): `);
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    const prompt = createInterface({ input, output: nowhere, terminal: true });
    try {
      const closed = new Promise<string>((resolve) => prompt.once("close", () => resolve("")));
      return (await Promise.race([prompt.question(""), closed])).trim();
    } finally {
      prompt.close();
      output.write("\n");
    }
  };
}

function lineByLine(input: NodeJS.ReadableStream): () => Promise<string> {
  let lines: Promise<string[]> | null = null;
  return async () => {
    lines ??= text(input).then((whole) => whole.split("\n"));
    return ((await lines).shift() ?? "").trim();
  };
}
