/** The description that the model reads; numbers are those in force. Like those of the other tools it names no folder: it stands before everything else in a request, and caches of a prompt hold across conversations only as long as it is the same. */
export function describeTerminal(options: {
  readonly quietSeconds: number;
  readonly longestSeconds: number;
}): string {
  return `Run a command in a bash shell that stays open: the working directory, variables and functions carry over from one call to the next. It starts in your working directory.

What to send
- One statement per call. Join several with && or ; or write a script file. Loops, functions and heredocs may take several lines.
- Look before you write: make sure that the directory you create files in exists and is the right one. Quote paths with spaces. Prefer absolute paths to changing directories.
- Do not use set -e, exit or exec in this shell: they end it, and with it the variables and the working directory.
- Secrets of the conversation are variables. Name one in the command ($NAME) and it is exported to the shell; its value is hidden in what you see.

How long a call takes
- It answers when the command ends. Without timeout it also answers once the command has printed nothing new for ${options.quietSeconds} seconds, or after ${options.longestSeconds} seconds in any case.
- With timeout it answers after that many seconds at the latest, however quiet the command is. Use it for builds and tests that are known to take long.
- An exit code of -1 means: the command is still running. Then you can
  1. send an empty command to read what it has printed since,
  2. send text with is_input true; it is typed followed by Enter,
  3. send a key with is_input true: C-c to interrupt, C-d for end of input, C-z to suspend, any other C-letter, ENTER, TAB, ESC, BS, UP, DOWN, LEFT, RIGHT, HOME, END, PGUP, PGDN.
  A new command is refused until the running one has ended.
- Start servers and other lasting programs in the background with their output in a file, for example: python3 -m http.server 8000 > server.log 2>&1 &

What you get
- Output and error output together, then the exit code. Full-screen programs (editors, pagers) are shown as the screen they draw. Pagers are turned off.
- Output longer than 30,000 characters loses its middle; the notice there names a file that holds all of it.
- reset true ends the shell and every program started in it, background ones too, and opens a fresh shell. Use it when the terminal no longer answers sensibly.`;
}
