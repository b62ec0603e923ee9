/** What stands beside a conversation and is of its workspace: shells. */
export const workspaceEn = {
  shells: {
    title: "Shells",
    tabs: "Open shells",
    open: "New shell",
    end: "End",
    input: "Keyboard of the shell",
    none: "A shell of your own in the folder of this conversation, beside the agent. It goes on while you are elsewhere, and ends with the conversation or the server.",
    name: (number: number, isRunning: boolean) => (isRunning ? `Shell ${number}` : `Shell ${number}, ended`),
    ended: (exitCode: number | null) =>
      exitCode === null ? "The shell has ended." : `The shell has ended with exit code ${exitCode}.`,
    leave: "Control and ] leaves the terminal.",
  },
};
