/** What stands beside a conversation and is of its workspace, shells and what programs show on ports; and its replay. */
export const workspaceEn = {
  replay: {
    title: "Replay",
    recorded: (when: string) => `Recorded ${when}. This file asks nobody for anything.`,
    unchecked: "It was not checked whether its requests to the model follow from it.",
    left: (count: number) =>
      count === 1
        ? "A conversation of a sub-agent is not in this file, which would have become too large; its report is."
        : `${count} conversations of sub-agents are not in this file, which would have become too large; their reports are.`,
  },
  preview: {
    title: "Preview",
    ports: "Ports",
    port: (port: number, program: string) => (program === "" ? `${port}` : `${port} ${program}`),
    path: "Address on the port",
    reload: "Load again",
    look: "Look for ports",
    frame: (port: number) => `What port ${port} shows`,
    none: "No program in the folder of this conversation listens on a port. Start one, then look again.",
    choose: "Choose a port to see what it shows.",
    note: "It runs apart from this page: it knows nothing of your login, and cookies and storage do not last.",
  },
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
