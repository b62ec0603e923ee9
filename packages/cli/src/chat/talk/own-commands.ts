import { commandNames, ranked, type CommandName, type Suggestion } from "@convoke/client/view";

/** Commands of the terminal, beside those that it shares with the page. */
export const ownCommands = {
  help: "what the keys and commands do",
  now: "interrupt the agent and send this",
  later: "send this for when the run has ended",
  replace: "withdraw what the agent has not read, and send this",
  while: "what a message does while the agent works: /while queue",
  queue: "list the messages that the agent has not read",
  diff: "what is changed, in a pager; /diff PATH one file or folder",
  undo: "take your last message back; /undo FILE the changes of a file",
  plan: "show the plan; /plan approve lets the agent carry it out",
  open: "show the newest cut output in a pager; /open 2 the one before",
  mode: "when to ask before an action: never, risky, always",
  agents: "list the sub-agents; /back returns from one",
  back: "return to the previous conversation",
  new: "begin another conversation",
  resume: "choose an earlier conversation",
  rename: "give the conversation a name",
  copy: "copy the last answer",
  export: "write the conversation into a file: /export html notes.html",
  image: "attach a picture: /image PATH, or that of the clipboard",
  theme: "choose how the terminal looks",
  status: "where this conversation is and what it may do",
  quit: "leave",
} as const;

export type OwnCommandName = keyof typeof ownCommands;

export const sharedDescriptions: Readonly<Record<CommandName, string>> = {
  stop: "interrupt the agent",
  pause: "let the agent stop after its step",
  go: "let the agent go on",
  condense: "shorten what the model reads",
  fork: "copy the conversation and go on in the copy",
  goal: "give the agent a goal that it works on until it is reached",
  ask: "ask something beside the task",
  model: "use another stored model",
  limit: "max US dollars for the task",
};

/** What is said when a command lacks its text. */
export const neededTexts: Readonly<Record<string, string>> = {
  goal: "Write the goal behind it: /goal all tests pass",
  ask: "Write the question behind it: /ask what did you change?",
  model: "Write the name of a stored model behind it: /model fast",
  limit: "Write an amount in US dollars behind it: /limit 2.50",
};

export type OwnCommand = { readonly name: OwnCommandName; readonly text: string };

export function parseOwnCommand(message: string): OwnCommand | null {
  const [, word = "", text = ""] = /^\/([a-z]+)(?:\s+([\s\S]*))?$/u.exec(message.trim()) ?? [];
  return Object.hasOwn(ownCommands, word) ? { name: word as OwnCommandName, text: text.trim() } : null;
}

/** The commands that fit what is written behind a slash, without skills. */
export function suggestCommands(query: string): readonly Suggestion[] {
  const own = Object.entries(ownCommands).map(([name, detail]) => ({
    name: `/${name}`,
    detail,
    insert: `/${name} `,
  }));
  const shared = commandNames.map((name) => ({
    name: `/${name}`,
    detail: sharedDescriptions[name],
    insert: `/${name} `,
  }));
  return ranked([...shared, ...own], query, ({ name }) => name.slice(1), 30);
}

export const helpText = `Keys
  enter       send; while the agent works, the message waits until its next step
  alt-enter   new line (also ctrl-j, shift-enter, or \\ before enter)
  ctrl-enter  interrupt the agent and send (also /now)
  alt-q       send for when the run has ended (also /later)
  esc         interrupt the agent
  up          in an empty composer: take the newest waiting message back, else older messages
  ctrl-r      search in what you sent from this folder
  ctrl-o      the newest cut output, in a pager
  ctrl-v      attach the picture of the clipboard
  ctrl-g      write in $EDITOR
  ctrl-c      clear; with nothing written interrupt; twice: leave
  ctrl-d      leave
  ctrl-z      suspend
  @           complete the name of a file
  !command    run a command yourself, beside the agent
Answers to a question: y once, a always, n no, e say why, d details, esc leave it waiting, tab come back to it.
Commands`;

/** A line for each command. */
export function commandHelp(): string[] {
  const all = { ...sharedDescriptions, ...ownCommands };
  return Object.entries(all).map(([name, detail]) => `  /${name.padEnd(10)} ${detail}`);
}
