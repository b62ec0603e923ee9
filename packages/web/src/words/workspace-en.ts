/** Texts of panels beside a conversation: shells, previews, replay. */
export const workspaceEn = {
  replay: {
    title: "Replay",
    recorded: (when: string) => `Recorded ${when}. This file makes no network requests.`,
    unchecked: "Its model requests were not verified against the log.",
    left: (count: number) =>
      count === 1
        ? "1 sub-agent conversation was left out to limit the file size. Its report is included."
        : `${count} sub-agent conversations were left out to limit the file size. Their reports are included.`,
  },
  preview: {
    title: "Preview",
    ports: "Ports",
    port: (port: number, program: string) => (program === "" ? `${port}` : `${port} ${program}`),
    path: "Path",
    reload: "Reload",
    scan: "Scan for ports",
    frame: (port: number) => `Preview of port ${port}`,
    none: "No program in the folder of this conversation listens on a port. Start one, then scan again.",
    choose: "Choose a port to preview.",
    note: "Isolated from this page: it cannot use your login, and its cookies and storage are not kept.",
  },
  shells: {
    title: "Shells",
    tabs: "Open shells",
    open: "New shell",
    end: "End",
    input: "Shell keyboard input",
    none: "Your own shell in the conversation's folder, separate from the agent's. It keeps running when you leave, until the conversation or the server ends.",
    name: (number: number, isRunning: boolean) => (isRunning ? `Shell ${number}` : `Shell ${number}, exited`),
    ended: (exitCode: number | null) =>
      exitCode === null ? "The shell has exited." : `The shell has exited with code ${exitCode}.`,
    leave: "Ctrl+] leaves the terminal.",
  },
};
