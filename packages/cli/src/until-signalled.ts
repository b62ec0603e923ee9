import { exitCodes } from "./exit-codes.ts";

/** What asks a server to end. A terminal that is closed sends SIGHUP. */
export const endSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Resolves at the first signal to end; a second one ends the process at once. A second SIGHUP does not: a terminal that is closed sends it
 * itself, and once more through its shell.
 */
export async function untilSignalled(): Promise<void> {
  await new Promise<void>((resolve) => {
    let isStopping = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (isStopping && signal !== "SIGHUP") process.exit(exitCodes.interrupted);
      isStopping = true;
      resolve();
    };
    for (const signal of endSignals) process.on(signal, onSignal);
  });
}
