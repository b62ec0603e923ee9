/**
 * Node opens a debugger at SIGUSR1, and everybody who can reach it runs any code in this process. Where tools run beside us their user can
 * send signals, so the signal does nothing; programs that we start ourselves get `--disable-sigusr1` besides.
 */
export function ignoreDebugSignal(): void {
  process.off("SIGUSR1", doNothing).on("SIGUSR1", doNothing);
}

function doNothing(): void {}
