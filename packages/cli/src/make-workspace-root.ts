import { mkdir } from "node:fs/promises";
import { CommandError, exitCodes } from "./exit-codes.ts";

/** Makes the folder of relative working directories where it is not there: on a new volume, nothing is. */
export async function makeWorkspaceRoot(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(
      `The folder of working directories ${folder} cannot be made (${code}). Choose another with --workspace-root.`,
      exitCodes.usage,
    );
  }
}
