import { emptyView, ranked, suggestFor, type ConversationView, type Suggest } from "@convoke/client/view";
import type { PendingApproval } from "@convoke/protocol";
import { printable } from "../print/printable.ts";
import { Frames } from "./frames.ts";
import type { ChoiceList } from "./input/choice-list.ts";
import { Completer } from "./input/completer.ts";
import { Editor } from "./input/editor.ts";
import { KeyReader } from "./input/key-reader.ts";
import { Keys } from "./keys.ts";
import type { Drawing } from "./screen/screen.ts";
import { Sender } from "./sender.ts";
import type { ChatDeps, Stage } from "./stage.ts";
import { ConversationLink } from "./talk/conversation-link.ts";
import { Offer, type LastConversation } from "./talk/offer.ts";
import { sharedDescriptions, suggestCommands } from "./talk/own-commands.ts";
import { Question, type ApprovalAnswer } from "./talk/question.ts";

const maxSuggestions = 30;

/** A conversation in the terminal, from the first key to the last. */
export class Chat implements Stage {
  readonly screen: Drawing;
  readonly editor = new Editor();
  readonly #deps: ChatDeps;
  readonly #question: Question;
  readonly #offer = new Offer((id) => void this.attempt(() => this.open(id)));
  readonly #sender: Sender;
  readonly #completer: Completer;
  readonly #frames: Frames;
  readonly #keys: Keys;
  readonly #left = Promise.withResolvers<void>();
  #link: ConversationLink | null = null;
  #list: ChoiceList | null = null;
  #suggest: Suggest = async ({ kind, query }) => (kind === "command" ? suggestCommands(query) : []);
  #notice = "";
  #plansFirst: boolean;

  constructor(deps: ChatDeps) {
    const { theme, nowMs } = deps;
    this.#deps = deps;
    this.#plansFirst = deps.plansFirst;
    this.screen = deps.screen;
    this.#completer = new Completer(() => this.draw());
    this.#sender = new Sender({ ...deps, chat: this });
    this.#question = new Question({
      theme,
      nowMs,
      readsLines: deps.screen.readsLines,
      answer: (answers) => void this.attempt(() => this.#answer(answers)),
      tryRules: (rules) => this.#sender.tryRules(rules),
      showDetails: (text) => void this.#sender.page(text),
      onChange: () => this.draw(),
    });
    this.#frames = new Frames({
      ...deps,
      stage: this,
      question: (columns) => [...this.#offer.lines(theme), ...this.#question.lines(columns)],
      isAnswering: () => this.#question.isTyping,
      notice: () => this.#notice,
      below: () => this.#openList()?.lines(theme) ?? this.#completer.lines(theme),
    });
    this.#keys = new Keys({
      ...deps,
      stage: this,
      sender: this.#sender,
      question: this.#question,
      offer: this.#offer,
      completer: this.#completer,
      list: () => this.#openList(),
      suggest: () => this.#suggest,
    });
  }

  get link(): ConversationLink | null {
    return this.#link;
  }

  get view(): ConversationView {
    return this.#link?.transcript.view ?? emptyView;
  }

  get plansFirst(): boolean {
    return this.#plansFirst;
  }

  setPlansFirst(plansFirst: boolean): void {
    this.#plansFirst = plansFirst;
    this.draw();
  }

  /** Asks whether to go on with the last conversation of the folder. */
  offer(last: LastConversation): void {
    this.#offer.make(last);
  }

  /** Runs until the person leaves. */
  async run(): Promise<void> {
    const { terminal, later } = this.#deps;
    using reader = new KeyReader({ later, onKey: (key) => this.#keys.press(key) });
    terminal.listen(
      (text) => reader.take(text),
      () => this.#resize(),
    );
    terminal.enter();
    this.draw();
    await this.#left.promise;
    this.#frames.now();
    this.#frames[Symbol.dispose]();
    this.screen.clearArea();
    this.#link?.[Symbol.dispose]();
  }

  leave(): void {
    this.#left.resolve();
  }

  async open(id: string): Promise<void> {
    const { client, theme, isVerbose, firstRows } = this.#deps;
    const link = await ConversationLink.open(id, {
      client,
      options: { theme, isVerbose },
      firstRows,
      onChange: () => this.draw(),
      onApprovals: (items) => this.#ask(items),
      onEnd: (error) => this.say(error instanceof Error ? error.message : String(error)),
    });
    const isAnother = this.#link !== null && this.#link.id !== link.id;
    this.close();
    this.#offer.end();
    this.#link = link;
    if (isAnother)
      this.screen.commit(
        `\n${theme.paint.dim(`${theme.signs.gap} conversation ${link.id.slice(0, 8)}${theme.signs.dot}`)}${printable(link.info.title ?? "")}`,
      );
    if (link.earlierCount > 0)
      this.screen.commit(theme.paint.dim(`${theme.signs.gap} ${link.earlierCount} earlier (--full)`));
    const folder = link.transcript.view.workingDir ?? "";
    const ofConversation = suggestFor(client, {
      conversationId: link.id,
      folder,
      descriptions: sharedDescriptions,
      onFailure: () => this.say("The skills could not be loaded."),
    });
    this.#suggest = async (target, signal) => {
      const found = await ofConversation(target, signal);
      if (target.kind !== "command") return found;
      const names = new Set(found.map(({ name }) => name));
      const own = suggestCommands(target.query).filter(({ name }) => !names.has(name));
      // Together, so that the name that is written stands before longer ones.
      return ranked([...found, ...own], target.query, ({ name }) => name.slice(1), maxSuggestions);
    };
    this.draw();
  }

  close(): void {
    this.#frames.now();
    this.#link?.[Symbol.dispose]();
    this.#link = null;
    this.#question.set([]);
  }

  say(text: string): void {
    this.#notice = text;
    this.draw();
  }

  unsay(text: string): void {
    if (this.#notice === text) this.say("");
  }

  choose(list: ChoiceList): void {
    this.#list = list;
    this.draw();
  }

  async commandsLike(word: string): Promise<readonly string[]> {
    const target = { kind: "command", query: word, from: 0, to: word.length + 1 } as const;
    const found = await this.#suggest(target, new AbortController().signal);
    return found.map(({ name }) => name.slice(1));
  }

  async attempt(act: () => Promise<unknown>): Promise<boolean> {
    try {
      await act();
      return true;
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error));
      return false;
    } finally {
      this.draw();
    }
  }

  draw(): void {
    this.#frames.soon();
  }

  async lend(act: () => Promise<void>): Promise<void> {
    const { terminal } = this.#deps;
    this.#frames.pause();
    await this.attempt(() => terminal.lend(act));
    this.#frames.resume();
    this.#resize();
  }

  #resize(): void {
    this.screen.resize(this.#deps.terminal.size);
    this.draw();
  }

  #openList(): ChoiceList | null {
    return this.#list?.isClosed === false ? this.#list : null;
  }

  #ask(items: readonly PendingApproval[]): void {
    const count = this.#question.count;
    this.#question.set(items);
    if (items.length > count) {
      const { title, runningMs } = this.#frames;
      this.#deps.attention.call(`${title}: needs your answer`, runningMs);
    }
    this.draw();
  }

  async #answer(answers: readonly ApprovalAnswer[]): Promise<void> {
    const link = this.#link;
    if (link === null) return;
    try {
      await this.#sender.answer(link.id, answers);
    } finally {
      await link.refreshApprovals();
    }
  }
}
