/** Loads the modules of terminals; otherwise the first terminal of a process loads them. */
export async function loadTerminal(): Promise<void> {
  await import("./shell.ts");
  await import("./terminal-session.ts");
}
