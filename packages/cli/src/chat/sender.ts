import { randomUUID } from "node:crypto";
import { ApiError } from "@convoke/client";
import { actOnCommand, commandNames, parseCommand, partsText } from "@convoke/client/view";
import type { PendingApproval, WhileRunning } from "@convoke/protocol";
import { nearMiss } from "@convoke/protocol/near-miss";
import { readImage, type ReadImage } from "./input/read-image.ts";
import { wholeText } from "./lines/whole-text.ts";
import { OwnCommandActs } from "./own-command-acts.ts";
import type { ChatDeps, Content, Stage } from "./stage.ts";
import { runShellCommand } from "./talk/shell-command.ts";
import { neededTexts, ownCommands, parseOwnCommand } from "./talk/own-commands.ts";
import type { ApprovalAnswer } from "./talk/question.ts";

export type SenderDeps = ChatDeps & { readonly chat: Stage };

const approvals = "/api/conversations/{conversation_id}/approvals";

/** Carries out what the person enters: messages, commands, answers. */
export class Sender {
  readonly #deps: SenderDeps;
  readonly #own: OwnCommandActs;
  #images = new Map<string, string>();
  #isSending = false;
  /** What was entered while something was being sent follows it. */
  #next: { readonly mode: WhileRunning | null } | null = null;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
    this.#own = new OwnCommandActs({
      ...deps,
      send: (text, mode) => this.send(text, mode),
      showCut: (number) => this.showCut(number),
      attach: (path) => this.attach(path),
    });
  }

  /** Sends what is in the composer; `mode` says what it does while the agent works, null for the default of the conversation. */
  async enter(mode: WhileRunning | null): Promise<void> {
    const { chat, history } = this.#deps;
    const { editor, link } = chat;
    if (this.#isSending) {
      if (editor.whole.trim() !== "") this.#next = { mode };
      return;
    }
    if (editor.text.endsWith("\\") && mode === null) {
      editor.set(editor.text.slice(0, -1));
      return editor.insert("\n");
    }
    const text = editor.whole;
    if (text.trim() === "") {
      const isHalted = link !== null && chat.view.status === "paused";
      if (isHalted) await chat.attempt(() => this.#deps.client.run(link.id));
      return;
    }
    const written = editor.text;
    editor.clear();
    const [bareCommand] = /^\/[a-z]+$/u.exec(text.trim()) ?? [];
    const progress =
      bareCommand !== undefined
        ? `${bareCommand} …`
        : link === null
          ? "starting the conversation"
          : "sending";
    chat.say(progress);
    this.#isSending = true;
    const isDone = await chat.attempt(() => this.#act(text, mode));
    this.#isSending = false;
    chat.unsay(progress);
    // Nothing that was typed is lost but a command of one word; what was typed meanwhile stays behind it.
    if (!isDone && bareCommand === undefined)
      editor.set(`${written}${editor.isEmpty ? "" : `\n${editor.text}`}`);
    if (isDone) await chat.attempt(() => history.add(text));
    chat.draw();
    const next = this.#next;
    this.#next = null;
    if (isDone && next !== null) await this.enter(next.mode);
  }

  /** Also begins a conversation, where none is shown. */
  async send(text: string, mode: WhileRunning | null): Promise<void> {
    const { chat, client, begin } = this.#deps;
    const { link } = chat;
    const content = this.#contentOf(text);
    if (link === null) {
      const { id } = await begin(content, { plansFirst: chat.plansFirst });
      chat.setPlansFirst(false);
      await chat.open(id);
    } else {
      await client.sendMessage(link.id, {
        role: "user",
        content,
        run: true,
        client_message_id: randomUUID(),
        while_running: mode,
      });
    }
    this.#images = new Map();
  }

  async interrupt(): Promise<void> {
    const { chat, client } = this.#deps;
    const { status } = chat.view;
    if (chat.link === null || (status !== "running" && status !== "waiting_for_confirmation")) return;
    await client.interrupt(chat.link.id);
  }

  async answer(id: string, answers: readonly ApprovalAnswer[]): Promise<void> {
    try {
      await this.#deps.client.call(`POST ${approvals}`, {
        params: { conversation_id: id },
        body: { answers: [...answers] },
      });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
      throw new Error("Somebody else has answered meanwhile; your answer was not stored.", { cause: error });
    }
  }

  async tryRules(rules: PendingApproval["proposed_rules"]): Promise<string> {
    const { chat, client } = this.#deps;
    if (chat.link === null) return "";
    try {
      const trial = await client.call("POST /api/conversations/{conversation_id}/allow_rules/dry_run", {
        params: { conversation_id: chat.link.id },
        body: { rules: [...rules] },
      });
      const passed = trial.matches.filter(({ effect }) => effect === "allow").length;
      return `It would have let ${passed} of ${trial.action_count} calls pass.`;
    } catch (error) {
      return `It could not be tried: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  /** Pastes a text, or the picture that it names. */
  async paste(text: string): Promise<void> {
    const { editor } = this.#deps.chat;
    const image = await readImage(text).catch((error: Error) => {
      if ((error.cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT") return null;
      throw error;
    });
    if (image === null) return editor.paste(text);
    this.#attach(image);
  }

  /** Attaches the picture of a file; without a path that of the desktop's clipboard. */
  async attach(path = ""): Promise<void> {
    const image = path === "" ? await this.#deps.readClipboardImage() : await readImage(path);
    if (image === null)
      throw new Error(`${path} is no picture: it must end in .png, .jpg, .jpeg, .gif or .webp.`);
    this.#attach(image);
  }

  #attach(image: ReadImage): void {
    const { editor } = this.#deps.chat;
    const mark = `[image ${this.#images.size + 1}: ${image.name}]`;
    this.#images.set(mark, image.url);
    editor.insert(mark);
    this.#deps.chat.draw();
  }

  /** Takes the newest message that waits back into the composer; false when none waits. */
  takeBack(): boolean {
    const { chat, client } = this.#deps;
    const { link } = chat;
    const newest = link?.transcript.queuedMessages().at(-1);
    if (link === null || newest === undefined) return false;
    void chat.attempt(async () => {
      const params = { conversation_id: link.id, event_id: newest.id };
      const { items } = await client.call("GET /api/conversations/{conversation_id}/queue", { params });
      await client.call("DELETE /api/conversations/{conversation_id}/queue/{event_id}", { params });
      const whole = items.find(({ event_id: id }) => id === newest.id);
      chat.editor.set(whole === undefined ? newest.text : partsText(whole.message["content"] as unknown[]));
    });
    return true;
  }

  /** Shows the whole of a row that was cut, in a pager: the newest one is number 1. */
  async showCut(number: number): Promise<void> {
    const { chat, client } = this.#deps;
    const { link } = chat;
    const id = link?.transcript.cutRows.at(-number);
    if (link === null || id === undefined) return chat.say("Nothing was cut.");
    const row = link.transcript.fold.row(id)!;
    const outcome = row.type === "action" ? row.outcome : null;
    const ids = [id, ...(outcome === null ? [] : [outcome.id])];
    const events = await client.getEvents(link.id, ids);
    await this.page(wholeText(events.filter((event) => event !== null)));
  }

  async page(text: string): Promise<void> {
    const { chat, page } = this.#deps;
    await chat.lend(() => page(text));
  }

  async #act(text: string, mode: WhileRunning | null): Promise<void> {
    const { chat, client, theme } = this.#deps;
    const { link } = chat;
    const own = parseOwnCommand(text);
    if (own !== null) return this.#own.act(own);
    const command = parseCommand(text);
    if (command !== null) {
      if (link === null) throw new Error("There is no conversation yet. Write what the agent should do.");
      const { goTo, answer } = await actOnCommand(client, link.id, command, neededTexts);
      if (goTo !== undefined) await chat.open(goTo);
      if (answer !== undefined)
        this.#own.print(["", theme.paint.dim(`beside the task: ${command.text}`), answer]);
      return;
    }
    await this.#refuseTypo(text);
    if (text.startsWith("!") && text.trim() !== "!") {
      if (link === null) throw new Error("There is no conversation yet, so there is no folder to run it in.");
      const lines = await runShellCommand(client, link.id, text.slice(1).trim(), theme);
      return this.#own.print(lines);
    }
    await this.send(text, mode);
  }

  /** A command that is not there is no message: it would cost a turn of the model. */
  async #refuseTypo(text: string): Promise<void> {
    const [, word] = /^\/([a-z][a-z-]*)(?:\s|$)/u.exec(text) ?? [];
    if (word === undefined) return;
    const { chat } = this.#deps;
    const found = await chat.commandsLike(word);
    if (found.includes(word)) return;
    const near = nearMiss(word, [...Object.keys(ownCommands), ...commandNames, ...found]);
    // Before a conversation nobody knows its skills.
    if (near === null && chat.link === null) return;
    throw new Error(
      `There is no command or skill /${word}.${near === null ? "" : ` Did you mean /${near}?`} With a space before it, it is sent as a message.`,
    );
  }

  #contentOf(text: string): Content {
    const images = [...this.#images].filter(([mark]) => text.includes(mark));
    const rest = images.reduce((left, [mark]) => left.replaceAll(mark, "").trim(), text);
    return [
      ...(rest === "" ? [] : [{ type: "text" as const, text: rest }]),
      ...images.map(([, url]) => ({ type: "image" as const, image_urls: [url] })),
    ];
  }
}
