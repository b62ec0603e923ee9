import { resolve } from "node:path";
import { eventBefore } from "@convoke/client/view";
import {
  downloadConversation,
  exportFormats,
  writeNewFile,
  type ExportFormat,
} from "../api/download-conversation.ts";
import { printable } from "../print/printable.ts";
import { ChoiceList } from "./input/choice-list.ts";
import { answerLines } from "./lines/row-lines.ts";
import type { ChatDeps, Stage } from "./stage.ts";
import { changesText, filesAt, findChanges } from "./talk/changes-text.ts";
import type { ConversationLink } from "./talk/conversation-link.ts";
import { planText } from "./talk/plan-text.ts";
import { lastMessage, restoreFile } from "./talk/take-back.ts";

export type WorkActsDeps = Pick<ChatDeps, "client" | "page" | "theme" | "themes"> & { readonly chat: Stage };

/** The commands about what the agent did: its changes, its plan, its log; and how all of that looks. */
export class WorkActs {
  readonly #deps: WorkActsDeps;

  constructor(deps: WorkActsDeps) {
    this.#deps = deps;
  }

  /** Shows the changed files in a pager: all of them, or those at a path. */
  async diff(link: ConversationLink, path: string): Promise<void> {
    const { chat, page, theme } = this.#deps;
    const all = await findChanges(this.#placeOf(link));
    const files = path === "" ? all : filesAt(all, path);
    if (files.length === 0)
      return chat.say(path === "" ? "No file is changed." : `No changed file is at ${path}.`);
    const text = await changesText(files, theme);
    await chat.lend(() => page(text));
  }

  /** Takes the newest message back, with what came after it; with a path it takes back the changes of a file, after a question. */
  async undo(link: ConversationLink, path: string): Promise<void> {
    const { chat, client } = this.#deps;
    if (path !== "") return this.#restore(link, path);
    const message = lastMessage(link.transcript.fold.rows());
    if (message === null) throw new Error("No message is shown that could be taken back.");
    const event_id = await eventBefore(client, link.id, message.id);
    await client.call("POST /api/conversations/{conversation_id}/navigate", {
      params: { conversation_id: link.id },
      body: { event_id },
    });
    chat.editor.set(message.text);
    chat.say(
      "The agent no longer reads that message and what came after it. Files stay as they are: /diff, /undo FILE.",
    );
  }

  /** Shows the plan, or approves it; before a conversation it says whether the next one plans first. */
  async plan(link: ConversationLink | null, text: string): Promise<void> {
    const { chat, client, theme } = this.#deps;
    if (link === null) {
      chat.setPlansFirst(!chat.plansFirst);
      return;
    }
    const { isPlanning } = link.transcript.view;
    if (text !== "") {
      const approval = /^approve(?:\s+([\s\S]+))?$/u.exec(text);
      if (approval === null)
        throw new Error("/plan shows the plan; /plan approve lets the agent carry it out.");
      if (!isPlanning) throw new Error("There is no plan to approve: the agent does not plan now.");
      return client.approvePlan(link.id, approval[1]);
    }
    const plan = await planText(client, link.id, link.transcript.fold.rows());
    if (plan === null)
      throw new Error(
        isPlanning
          ? "The agent has written no plan yet."
          : "There is no plan. /new and then /plan begins a conversation that plans first.",
      );
    const next = isPlanning ? ["", theme.paint.dim("/plan approve   or write what to change")] : [];
    this.print(["", ...answerLines(plan, { theme }), ...next]);
  }

  /** Writes the conversation into a new file of the folder that the person is in. */
  async export(link: ConversationLink, text: string): Promise<void> {
    const { chat, client } = this.#deps;
    const { format, file } = parseExport(text, link.id);
    const bytes = await writeNewFile(resolve(file), await downloadConversation(client, link.id, format));
    chat.say(`${file}  ${bytes} bytes`);
  }

  async theme(text: string): Promise<void> {
    const { chat, themes } = this.#deps;
    if (text !== "") return themes.use(text);
    const names = await themes.names();
    chat.choose(
      new ChoiceList(
        "theme",
        names.map((name) => ({ label: printable(name), detail: "", value: name })),
        (name) => void chat.attempt(() => themes.use(name)),
      ),
    );
  }

  print(lines: readonly string[]): void {
    for (const line of lines) this.#deps.chat.screen.commit(line);
    this.#deps.chat.draw();
  }

  async #restore(link: ConversationLink, path: string): Promise<void> {
    const { chat, client } = this.#deps;
    const files = filesAt(await findChanges(this.#placeOf(link)), path);
    const [file] = files;
    if (file === undefined) throw new Error(`No changed file is at ${path}. /diff lists them.`);
    if (files.length > 1) throw new Error(`${path} has ${files.length} changed files. Name one of them.`);
    const what = file.status === "ADDED" ? "remove" : "take back all changes of";
    const choices = [
      { label: "no", detail: "nothing changes", value: "no" },
      {
        label: "yes",
        detail: `${what} ${printable(file.path)}, also those that are not the agent's`,
        value: "yes",
      },
    ];
    chat.choose(
      new ChoiceList(`${what} ${printable(file.path)}`, choices, (answer) => {
        if (answer !== "yes") return;
        void chat.attempt(async () => {
          await restoreFile(client, link.id, file.fullPath);
          chat.say(`${file.path} is what it was when its branch began.`);
        });
      }),
    );
  }

  #placeOf({ id, transcript }: ConversationLink) {
    return { client: this.#deps.client, conversationId: id, folder: transcript.view.workingDir ?? "" };
  }
}

/** `html`, `html notes.html`, `notes.html`; Markdown where nothing is said. */
function parseExport(text: string, id: string): { readonly format: ExportFormat; readonly file: string } {
  const formats = Object.keys(exportFormats) as ExportFormat[];
  const [first = "", rest = ""] = text.split(/\s+(.*)/su);
  const named = first === "" ? "markdown" : formats.find((one) => one === first);
  if (named !== undefined)
    return { format: named, file: rest || `conversation-${id.slice(0, 8)}${exportFormats[named]}` };
  const format = formats.find((one) => text.endsWith(exportFormats[one]));
  if (format === undefined)
    throw new Error(`Write a format behind it: /export ${formats.join(", ")}; or a file such as notes.html.`);
  return { format, file: text };
}
