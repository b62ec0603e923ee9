/** Loads what a terminal runs on: by itself the first one of a process does. */
export async function loadTerminal(): Promise<void> {
  await import("./shell.ts");
  await import("./terminal-session.ts");
}
