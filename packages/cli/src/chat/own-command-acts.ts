import { describeRule } from "@convoke/client";
import {
  findOffBranchRows,
  shownCost,
  shownCount,
  shownDuration,
  spendOf,
  taskOf,
  type Row,
} from "@convoke/client/view";
import type { ConfirmationPolicyInput, WhileRunning } from "@convoke/protocol";
import { whileRunningModes } from "../run/while-running.ts";
import { describeWall } from "../print/describe-wall.ts";
import { printable } from "../print/printable.ts";
import { ChoiceList } from "./input/choice-list.ts";
import type { ChatDeps, Stage } from "./stage.ts";
import { policyName } from "./lines/status-line.ts";
import { WorkActs } from "./work-acts.ts";
import { commandHelp, helpText, type OwnCommand } from "./talk/own-commands.ts";

export type OwnCommandDeps = ChatDeps & {
  readonly chat: Stage;
  /** Sends a message; `mode` says what it does while the agent works. */
  readonly send: (text: string, mode: WhileRunning) => Promise<void>;
  /** Shows something that was cut in a pager; 1 is the newest. */
  readonly showCut: (number: number) => Promise<void>;
  /** Attaches the picture at a path, or that of the clipboard. */
  readonly attach: (path: string) => Promise<void>;
};

const policies: Readonly<Record<string, ConfirmationPolicyInput>> = {
  never: { kind: "NeverConfirm" },
  risky: { kind: "ConfirmRisky" },
  always: { kind: "AlwaysConfirm" },
};

const policyDetails = {
  never: "runs every action at once",
  risky: "asks before actions of high or unknown risk",
  always: "asks before every action",
} as const satisfies Readonly<Record<keyof typeof policies, string>>;

const whileDetails: Readonly<Record<WhileRunning, string>> = {
  steer: "the agent reads it before its next step",
  queue: "waits until the run has ended",
  interrupt: "interrupts the agent",
  reject: "is refused",
  replace: "withdraws what the agent has not read",
};

/** Carries out the commands that only the terminal has. */
export class OwnCommandActs {
  readonly #deps: OwnCommandDeps;
  /** The conversations of before `/agents` led elsewhere. */
  readonly #before: string[] = [];

  readonly #work: WorkActs;

  constructor(deps: OwnCommandDeps) {
    this.#deps = deps;
    this.#work = new WorkActs(deps);
  }

  /** Rejects with a sentence for the person. */
  async act({ name, text }: OwnCommand): Promise<void> {
    const { chat, client, send, showCut } = this.#deps;
    switch (name) {
      case "help":
        return this.print(["", ...helpText.split("\n"), ...commandHelp()]);
      case "quit":
        return chat.leave();
      case "now":
        if (text === "") throw new Error("Write the message behind it: /now use the other file");
        return send(text, "interrupt");
      case "later":
        if (text === "") throw new Error("Write the message behind it: /later then run the tests");
        return send(text, "queue");
      case "replace":
        if (text === "") throw new Error("Write the message behind it: /replace use the other file");
        return send(text, "replace");
      case "new":
        chat.close();
        return this.print([
          "",
          this.#deps.theme.paint.dim("a new conversation begins with your next message"),
        ]);
      case "resume":
        return this.#resume();
      case "agents":
        return this.#agents();
      case "image":
        return this.#deps.attach(text);
      case "theme":
        return this.#work.theme(text);
      case "plan":
        return this.#work.plan(chat.link, text);
      case "back": {
        const id = this.#before.pop();
        if (id === undefined) throw new Error("There is no conversation to return to.");
        return chat.open(id);
      }
      default: {
        const { link } = chat;
        if (link === null) throw new Error("There is no conversation yet. Write what the agent should do.");
        if (name === "open") return showCut(text === "" ? 1 : Math.max(1, Number(text) || 1));
        if (name === "diff") return this.#work.diff(link, text);
        if (name === "undo") return this.#work.undo(link, text);
        if (name === "export") return this.#work.export(link, text);
        if (name === "queue") return this.#queue();
        if (name === "while") return this.#setWhile(text);
        if (name === "status") return this.#status();
        if (name === "copy") return this.#copy();
        if (name === "rename") {
          if (text === "") throw new Error("Write the name behind it: /rename the failing test");
          return client.updateConversation(link.id, { title: text });
        }
        return this.#setMode(link.id, text);
      }
    }
  }

  print(lines: readonly string[]): void {
    this.#work.print(lines);
  }

  /** When the agent asks before an action; without a text it is chosen from a list. */
  async #setMode(id: string, text: string): Promise<void> {
    const { client } = this.#deps;
    if (text === "")
      return this.#chooseOf("when to ask before an action", policyDetails, (one) => this.#setMode(id, one));
    const policy = policies[text];
    if (policy === undefined) throw new Error("Write when to ask behind it: /mode never, risky or always");
    await client.setConfirmationPolicy(id, policy);
  }

  #chooseOf(
    title: string,
    details: Readonly<Record<string, string>>,
    act: (value: string) => Promise<void>,
  ): void {
    const { chat } = this.#deps;
    const choices = Object.entries(details).map(([value, detail]) => ({ label: value, detail, value }));
    chat.choose(new ChoiceList(title, choices, (value) => void chat.attempt(() => act(value))));
  }

  /** What a message does while the agent works, from now on in this conversation. */
  async #setWhile(text: string): Promise<void> {
    const { chat, client, theme } = this.#deps;
    if (text === "")
      return this.#chooseOf("a message while the agent works", whileDetails, (one) => this.#setWhile(one));
    const mode = whileRunningModes.find((one) => one === text);
    if (mode === undefined) throw new Error(`Write one of these behind it: ${whileRunningModes.join(", ")}`);
    await client.updateConversation(chat.link!.id, { while_running: mode });
    this.print(["", theme.paint.dim(`a message while the agent works: ${mode}`)]);
  }

  async #resume(): Promise<void> {
    const { chat, client, nowMs } = this.#deps;
    const { items } = await client.searchConversations({ limit: 100 });
    if (items.length === 0) throw new Error("There is no earlier conversation.");
    const choices = items.map(({ id, title, execution_status: status, updated_at: at, workspace }) => ({
      label: printable(title ?? id.slice(0, 8)),
      detail: [
        status ?? "",
        at === undefined ? "" : `${shownDuration(Math.max(0, nowMs() - Date.parse(at)))} ago`,
        "working_dir" in workspace ? printable(workspace.working_dir) : "",
      ].join("  "),
      value: id,
    }));
    chat.choose(new ChoiceList("resume", choices, (id) => void chat.attempt(() => chat.open(id))));
  }

  async #agents(): Promise<void> {
    const { chat } = this.#deps;
    const { link } = chat;
    const tasks = (link?.transcript.fold.rows() ?? []).flatMap((row) => {
      const id = row.type === "action" ? taskOf(row) : null;
      return row.type !== "action" || id === null ? [] : [{ row, id }];
    });
    if (link === null || tasks.length === 0) throw new Error("This conversation has no sub-agents.");
    const choices = tasks.map(({ row, id }) => ({
      label: printable(row.task?.subagent ?? row.tool),
      detail: printable(`${row.task?.status ?? "done"}  ${row.summary}`),
      value: id,
    }));
    chat.choose(
      new ChoiceList("sub-agents", choices, (id) => {
        this.#before.push(link.id);
        void chat.attempt(() => chat.open(id));
      }),
    );
  }

  #queue(): void {
    const messages = this.#deps.chat.link?.transcript.queuedMessages() ?? [];
    if (messages.length === 0) return this.#deps.chat.say("No message waits.");
    this.print([
      "",
      ...messages.map(({ text, isLater }, index) => {
        const when = isLater === true ? this.#deps.theme.paint.dim("  after the run") : "";
        return `${index + 1}  ${printable(text)}${when}`;
      }),
    ]);
  }

  async #status(): Promise<void> {
    const { chat, client } = this.#deps;
    const { link, view } = chat;
    if (link === null) return;
    const { cost, promptTokens, completionTokens } = spendOf(view);
    const { rules } = await client.call("GET /api/conversations/{conversation_id}/allow_rules", {
      params: { conversation_id: link.id },
    });
    this.print([
      "",
      `conversation  ${link.id}  ${printable(view.title ?? "")}`,
      `status        ${view.status}`,
      `folder        ${printable(view.workingDir ?? "")}`,
      `model         ${printable(view.model ?? "")}`,
      `wall          ${printable(describeWall(link.info.wall, view.workingDir ?? "").replace(/^Wall: /u, ""))}`,
      `approvals     ${policyName(view.policy)}`,
      `spent         ${shownCount(promptTokens + completionTokens)} tokens, ${shownCost(cost)}`,
      ...rules.map((rule) => `rule          ${printable(describeRule(rule))}`),
    ]);
  }

  #copy(): void {
    const { chat, terminal } = this.#deps;
    const rows = chat.link?.transcript.fold.rows() ?? [];
    const off = findOffBranchRows(rows);
    const answer = rows.findLast((row) => !off.has(row.id) && answerOf(row) !== "");
    if (answer === undefined) throw new Error("There is no answer to copy.");
    const text = Buffer.from(answerOf(answer)).toString("base64");
    terminal.write(`\u001b]52;c;${text}\u0007`);
    chat.say("The last answer was given to the terminal's clipboard, if the terminal allows it.");
  }
}

function answerOf(row: Row): string {
  if (row.type === "answer") return row.text;
  if (row.type !== "action" || row.tool !== "finish") return "";
  return typeof row.action?.["message"] === "string" ? row.action["message"] : "";
}
