import type { ConvokeClient } from "@convoke/client";
import type { ConversationView } from "@convoke/client/view";
import type { ConversationInfo, StartConversationRequest } from "@convoke/protocol";
import type { ChoiceList } from "./input/choice-list.ts";
import type { Editor } from "./input/editor.ts";
import type { ReadImage } from "./input/read-image.ts";
import type { History } from "./input/history.ts";
import type { Attention } from "./screen/attention.ts";
import type { Drawing, Size } from "./screen/screen.ts";
import type { Theme } from "./screen/theme.ts";
import type { ConversationLink } from "./talk/conversation-link.ts";

export type Content = NonNullable<NonNullable<StartConversationRequest["initial_message"]>["content"]>;

/** The terminal as the chat needs it; see `TerminalSession`. */
export type ChatTerminal = {
  readonly size: Size;
  write(text: string): void;
  listen(onInput: (text: string) => void, onResize: () => void): void;
  enter(): void;
  lend(act: () => Promise<void>): Promise<void>;
  suspend(): Promise<void>;
};

export type ChatDeps = {
  readonly client: ConvokeClient;
  readonly terminal: ChatTerminal;
  readonly screen: Drawing;
  readonly theme: Theme;
  readonly history: History;
  readonly attention: Attention;
  readonly nowMs: () => number;
  /** Calls back after `ms`; returns a function that cancels it. */
  readonly later: (ms: number, callback: () => void) => () => void;
  readonly isVerbose: boolean;
  readonly firstRows: number;
  /** Whether the first conversation plans before it changes anything. */
  readonly plansFirst: boolean;
  /** Begins a conversation with its first message. */
  readonly begin: (content: Content, start: { readonly plansFirst: boolean }) => Promise<ConversationInfo>;
  /** Shows a long text in a pager. */
  readonly page: (text: string) => Promise<void>;
  /** Lets a text be edited elsewhere. */
  readonly edit: (text: string) => Promise<string>;
  readonly themes: Themes;
  /** The picture of the desktop's clipboard. */
  readonly readClipboardImage: () => Promise<ReadImage>;
};

export type Themes = {
  readonly names: () => Promise<readonly string[]>;
  /** Rejects with a sentence where there is no such theme, or a wrong one. */
  readonly use: (name: string) => Promise<void>;
};

/** What the chat shows, for what acts on it. */
export type Stage = {
  readonly screen: Drawing;
  readonly editor: Editor;
  /** Null before there is a conversation. */
  readonly link: ConversationLink | null;
  /** Of the conversation; the empty one before there is any. */
  readonly view: ConversationView;
  /** Whether the next conversation plans before it changes anything. */
  readonly plansFirst: boolean;
  setPlansFirst(plansFirst: boolean): void;
  /** Shows another conversation from now on. Rejects with `ApiError` where there is none. */
  open(id: string): Promise<void>;
  /** Shows no conversation; the next message begins one. */
  close(): void;
  leave(): void;
  /** A sentence for the person, until the next key. */
  say(text: string): void;
  /** Takes a sentence away, unless another one is said by now. */
  unsay(text: string): void;
  choose(list: ChoiceList): void;
  /** Names of commands, and of skills of the conversation, that are like a word; without the slash. */
  commandsLike(word: string): Promise<readonly string[]>;
  /** Draws soon; many changes are one frame. */
  draw(): void;
  /** Carries something out; what went wrong is said. Resolves with whether it worked. */
  attempt(act: () => Promise<unknown>): Promise<boolean>;
  /** Gives the terminal to something else for a time. */
  lend(act: () => Promise<void>): Promise<void>;
};
