import { describeRule } from "@convoke/client";
import { hostsAsked, recordAt, textAt } from "@convoke/client/view";
import type { AnswerApprovalsRequest, PendingApproval } from "@convoke/protocol";
import { noReason } from "../../no-reason.ts";
import { printable } from "../../print/printable.ts";
import type { Key } from "../input/key-reader.ts";
import { joinedItems, widthOf, wrappedWords } from "../screen/text-width.ts";
import type { Theme } from "../screen/theme.ts";

export type ApprovalAnswer = AnswerApprovalsRequest["answers"][number];

export type QuestionDeps = {
  readonly theme: Theme;
  readonly nowMs: () => number;
  /** The terminal edits lines itself: with each letter comes an enter. */
  readonly readsLines: boolean;
  readonly answer: (answers: readonly ApprovalAnswer[]) => void;
  /** What rules would have let pass until now, as a sentence. */
  readonly tryRules: (rules: PendingApproval["proposed_rules"]) => Promise<string>;
  readonly showDetails: (text: string) => void;
  readonly onChange: () => void;
};

/** Keys that were meant for something else are not taken as an answer. */
const guardMs = 300;
/** Of a command that is asked about; `d` shows all of it. */
const maxSubjectRows = 4;
/** What a person types to let an action of high risk run. */
const assent = "yes";

type Mode =
  | { readonly type: "choice" }
  | { readonly type: "typed"; readonly text: string; readonly wants: "assent" | "reason" }
  | { readonly type: "rule"; readonly trial: string };

/** The question about the oldest action that waits, and the keys that answer it. A single key approves nothing of high risk. */
export class Question {
  readonly #deps: QuestionDeps;
  #items: readonly PendingApproval[] = [];
  #sinceMs = 0;
  #mode: Mode = { type: "choice" };
  /** Of the letter that chose, and no answer yet. */
  #ignoresEnter = false;
  /** Left waiting: somebody else may answer, or the person later. */
  #isPutOff = false;

  constructor(deps: QuestionDeps) {
    this.#deps = deps;
  }

  get isOpen(): boolean {
    return this.#items.length > 0 && !this.#isPutOff;
  }

  /** Whether letters are an answer that is being typed. */
  get isTyping(): boolean {
    return this.isOpen && this.#mode.type === "typed";
  }

  get count(): number {
    return this.#items.length;
  }

  /** The actions that wait now; the question starts again when the oldest is another one. */
  set(items: readonly PendingApproval[]): void {
    const isSame = items[0]?.action_id === this.#items[0]?.action_id;
    this.#items = items;
    if (isSame) return;
    this.#sinceMs = this.#deps.nowMs();
    this.#mode = { type: "choice" };
    this.#isPutOff = false;
  }

  /** For a window of this width: nothing that is asked is cut. */
  lines(columns: number): string[] {
    const [item] = this.#items;
    const { paint, signs } = this.#deps.theme;
    if (item === undefined) return [];
    const width = Math.max(10, columns - 3);
    if (this.#isPutOff)
      return [paint.yellow(`${signs.ask} ${this.#items.length} waiting for your answer (tab)`)];
    const subject = subjectRows(firstLine(subjectOf(item)), width).map(paint.bold);
    const more = this.#items.length > 1 ? [paint.dim(`1 of ${this.#items.length}`)] : [];
    const facts = [...riskOf(item, this.#deps.theme), ...more].join("  ");
    const fits = widthOf(subject.at(-1)!) + 2 + widthOf(facts) <= width;
    const head = fits
      ? [...subject.slice(0, -1), `${subject.at(-1)!}  ${facts}`.trimEnd()]
      : [...subject, facts];
    return [...head, ...this.#choices(item, width)].map(
      (line, index) => `${index === 0 ? paint.yellow(signs.ask) : " "} ${line}`,
    );
  }

  /** Carries out a key; false when it is none of the question's. */
  press(key: Key): boolean {
    const [item] = this.#items;
    if (item === undefined) return false;
    if (this.#isPutOff) {
      if (key.type !== "key" || key.name !== "tab") return false;
      this.#isPutOff = false;
      this.#sinceMs = this.#deps.nowMs();
      return true;
    }
    if (this.#mode.type === "typed") return this.#type(key, item, this.#mode);
    const isEscape = key.type === "key" && key.name === "escape";
    if (this.#mode.type === "rule") {
      if (isEscape || (key.type === "text" && key.text === "n")) this.#mode = { type: "choice" };
      else if (key.type === "text" && key.text === "y") this.#allowAlways(item);
      return key.type === "text" || isEscape;
    }
    if (isEscape) {
      this.#isPutOff = true;
      return true;
    }
    // A line that was typed as a whole, where the terminal edits lines itself.
    const word = key.type === "text" ? /^(yes|no)$/iu.exec(key.text)?.[1]?.toLowerCase() : undefined;
    if (word !== undefined) return this.#answerInWords(word, item);
    if (key.type !== "text" || !/^[yYnaed]$/u.test(key.text)) return false;
    if (this.#deps.nowMs() - this.#sinceMs >= guardMs) this.#choose(key.text, item);
    return true;
  }

  #answerInWords(word: string, item: PendingApproval): boolean {
    if (this.#deps.nowMs() - this.#sinceMs < guardMs) return true;
    this.#choose(word === "yes" ? "y" : "n", item);
    if (this.#mode.type === "typed" && this.#mode.wants === "assent") {
      this.#mode = { ...this.#mode, text: word };
      this.#ignoresEnter = false;
    }
    return true;
  }

  #mayAllowAll(): boolean {
    return this.#items.length > 1 && this.#items.every(({ security_risk: risk }) => risk !== "HIGH");
  }

  #choose(letter: string, item: PendingApproval): void {
    const isHigh = item.security_risk === "HIGH";
    switch (letter) {
      case "y":
        if (isHigh) this.#askFor("assent");
        else this.#send([{ action_id: item.action_id, accept: true }]);
        return;
      case "Y":
        if (!this.#mayAllowAll()) return;
        return this.#send(this.#items.map(({ action_id }) => ({ action_id, accept: true })));
      case "n":
        return this.#send([{ action_id: item.action_id, accept: false, reason: noReason }]);
      case "e":
        return this.#askFor("reason");
      case "d":
        return this.#deps.showDetails(detailsOf(item));
      case "a":
        if (item.proposed_rules.length > 0) void this.#proposeRule(item);
    }
  }

  async #proposeRule(item: PendingApproval): Promise<void> {
    const trial = await this.#deps.tryRules(item.proposed_rules);
    if (this.#items[0]?.action_id !== item.action_id) return;
    this.#mode = { type: "rule", trial };
    this.#deps.onChange();
  }

  #askFor(wants: "assent" | "reason"): void {
    this.#mode = { type: "typed", text: "", wants };
    this.#ignoresEnter = this.#deps.readsLines;
  }

  #allowAlways({ action_id, proposed_rules: rules }: PendingApproval): void {
    const [only] = rules;
    const rule = rules.length === 1 && only !== undefined ? { rule: only } : {};
    this.#send([{ action_id, accept: true, scope: "conversation", ...rule }]);
  }

  #type(key: Key, item: PendingApproval, mode: Extract<Mode, { type: "typed" }>): boolean {
    if (key.type === "text" || key.type === "paste") {
      this.#mode = { ...mode, text: mode.text + key.text.replaceAll("\n", " ") };
      return true;
    }
    if (key.type !== "key") return false;
    if (key.name === "escape") this.#mode = { type: "choice" };
    else if (key.name === "backspace") this.#mode = { ...mode, text: mode.text.slice(0, -1) };
    else if (key.name === "u" && key.ctrl) this.#mode = { ...mode, text: "" };
    else if (key.name === "enter" && this.#ignoresEnter) this.#ignoresEnter = false;
    else if (key.name === "enter") this.#enter(item, mode);
    else return false;
    return true;
  }

  #enter({ action_id }: PendingApproval, { text, wants }: Extract<Mode, { type: "typed" }>): void {
    const typed = text.trim();
    if (wants === "reason") {
      const reason = typed === "" ? noReason : typed;
      return this.#send([{ action_id, accept: false, reason }]);
    }
    if (typed === assent) this.#send([{ action_id, accept: true }]);
    else this.#mode = { type: "choice" };
  }

  #send(answers: readonly ApprovalAnswer[]): void {
    this.#mode = { type: "choice" };
    this.#sinceMs = this.#deps.nowMs();
    this.#deps.answer(answers);
  }

  #choices(item: PendingApproval, width: number): string[] {
    const { paint } = this.#deps.theme;
    const mode = this.#mode;
    if (mode.type === "typed") {
      const label =
        mode.wants === "assent"
          ? `High risk. Type ${assent} and enter to run it:`
          : "Why not? (enter says no)";
      const [first = "", ...rest] = wrappedWords(`${label} ${printable(mode.text)}_`, width);
      return [first.replace(label, paint.yellow(label)), ...rest];
    }
    if (mode.type === "rule") {
      const rules = item.proposed_rules.map((rule) => printable(describeRule(rule)));
      return [
        ...wrappedWords(`Always in this conversation: ${rules.join("; ")}`, width),
        ...joinedItems([mode.trial, `${paint.bold("y")} store and run`, `${paint.bold("esc")} back`], width),
      ];
    }
    const [rule] = item.proposed_rules;
    const keys: readonly (readonly [string, string] | null)[] = [
      ["y", "once"],
      this.#mayAllowAll() ? ["Y", "all"] : null,
      rule === undefined ? null : ["a", "always"],
      ["n", "no"],
      ["e", "say why"],
      ["d", "details"],
      ["esc", "leave it waiting"],
    ];
    const items = keys.flatMap((pair) => (pair === null ? [] : [`${paint.bold(pair[0])} ${pair[1]}`]));
    return joinedItems(items, width);
  }
}

function subjectRows(subject: string, width: number): string[] {
  const rows = wrappedWords(subject, width);
  if (rows.length <= maxSubjectRows) return rows;
  return [...rows.slice(0, maxSubjectRows - 1), "… (d shows all)"];
}

function riskOf({ security_risk: risk, reasons }: PendingApproval, { paint }: Theme): string[] {
  const why = reasons.length === 0 ? "" : `: ${printable(reasons.join("; "))}`;
  if (risk === "UNKNOWN" && why === "") return [];
  return [(risk === "HIGH" ? paint.red : paint.dim)(`${risk}${why}`)];
}

/** What is asked about, in words; hosts are never left out. */
function subjectOf({ tool_name: tool, action, summary }: PendingApproval): string {
  const hosts = hostsAsked({ tool, action });
  if (hosts !== null) return printable(`Reach ${hosts.hosts.join(", ")}: ${hosts.reason}`);
  if (action["kind"] === "TerminalAction") return printable(`Run  ${textAt(action, "command")}`);
  const path = textAt(action, "path") || textAt(action, "file_path");
  if (path !== "") return printable(`${textAt(action, "command") || tool}  ${path}`);
  return printable(`${tool}  ${summary ?? JSON.stringify(recordAt(action, "data") ?? action)}`);
}

function detailsOf(item: PendingApproval): string {
  const { action, reasons, tool_name: tool, security_risk: risk } = item;
  const rules = item.proposed_rules.map((rule) => `always: ${describeRule(rule)}`);
  const whole =
    action["kind"] === "TerminalAction" ? textAt(action, "command") : JSON.stringify(action, null, 2);
  return printable([`${tool}  risk ${risk}`, ...reasons, ...rules, "", whole].join("\n"));
}

function firstLine(text: string): string {
  const [first = "", ...rest] = text.split("\n");
  return rest.length === 0 ? first : `${first} … (${rest.length + 1} lines: d)`;
}
