import { runCommandLine } from "./command-line.ts";
import { addToolHost } from "./commands/tool-host.ts";

/** `convoke tool-host` alone: a machine that has nothing but tool hosts need not hold the text of a server for each. */
export async function main(argv: readonly string[]): Promise<void> {
  const add = async (program: Parameters<typeof addToolHost>[0]): Promise<void> => addToolHost(program);
  await runCommandLine({ argv, add, explain: async () => null });
}
