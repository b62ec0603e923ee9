import type { FollowItem } from "@convoke/client";
import {
  foldEvents,
  foldItem,
  RowFold,
  asRecord,
  listAt,
  textAt,
  type ActionRow,
  type ConversationView,
  type Row,
  type UnknownRecord,
} from "@convoke/client/view";
import { callLines, type CallLinesOptions } from "../lines/call-lines.ts";
import { answerLines, rowLines, thoughtLines } from "../lines/row-lines.ts";
import { StreamedAnswer } from "../lines/streamed-answer.ts";

type HeldMessage = {
  readonly id: string;
  /** The answer that was being written when it was sent; null for none. */
  readonly answerId: string | null;
  /** Whether the model's next answer has read it: it was sent before the request of that answer. */
  readonly isReadNext: boolean;
};

/** States in which an open call still gets its outcome. */
const active: ReadonlySet<string> = new Set(["running", "waiting_for_confirmation"]);

/**
 * One conversation as text of a terminal: what is finished comes out once, as lines, in the order of the log; calls without an outcome
 * and the line that the model is writing stay, to be shown below. It knows nothing of the terminal.
 */
export class Transcript {
  readonly fold = new RowFold();
  #view: ConversationView;
  readonly #options: CallLinesOptions;
  /** Ids of rows that have not come out, in the order of the log. */
  #pending: string[] = [];
  /** Messages that were sent during a run and that the agent has not read. */
  #held: readonly HeldMessage[] = [];
  readonly #known = new Set<string>();
  /** Calls whose thought came out before their outcome. */
  readonly #introduced = new Set<string>();
  #streamed: StreamedAnswer;
  /** A thought that came out before the answer that it belongs to was stored. */
  #shownThought: string | null = null;
  #awaitedTools: readonly string[] = [];
  #progress: ReadonlyMap<string, string> = new Map();
  readonly #cutRows: string[] = [];

  constructor(view: ConversationView, options: CallLinesOptions) {
    this.#view = view;
    this.#options = options;
    this.#streamed = new StreamedAnswer(options.theme);
  }

  get view(): ConversationView {
    return this.#view;
  }

  /** Newest output of running calls, by the id of their action. */
  get progress(): ReadonlyMap<string, string> {
    return this.#progress;
  }

  /** Tools of open calls that wait for the result of a client. */
  get awaitedTools(): readonly string[] {
    return this.#awaitedTools;
  }

  /** Ids of the rows of which not everything came out, oldest first. */
  get cutRows(): readonly string[] {
    return this.#cutRows;
  }

  /** Events of before: rows and nothing else. At most `maxRows` of them come out; returns how many did not. */
  begin(events: readonly UnknownRecord[], maxRows: number): number {
    const ids = [...this.fold.add(events)];
    for (const id of ids) this.#known.add(id);
    const rows = this.fold.rows();
    this.#pending = rows.slice(Math.max(0, rows.length - maxRows)).map(({ id }) => id);
    const retries = events.filter(({ key }) => key === "model_retry");
    this.#view = foldEvents(this.#view, retries as never);
    return Math.max(0, rows.length - maxRows);
  }

  take(item: FollowItem): void {
    const before = this.#view;
    this.#view = foldItem(before, item);
    if (item.type === "signal") {
      const { frame } = item;
      if (frame["kind"] === "Standing") this.#awaitedTools = awaitedIn(frame);
      if (frame["kind"] !== "ToolProgress") return;
      this.#progress = new Map([...this.#progress, [textAt(frame, "action_id"), textAt(frame, "text")]]);
      return;
    }
    const event = {
      ...item.event,
      ...(item.trimmed === null ? {} : { is_cut: true }),
    } as unknown as UnknownRecord;
    if (textAt(event, "action_id") !== "") {
      const rest = new Map(this.#progress);
      rest.delete(textAt(event, "action_id"));
      this.#progress = rest;
    }
    const added = this.fold.add([event]);
    // Before the answer that has read them.
    this.#releaseRead();
    for (const id of added) {
      if (this.#known.has(id)) continue;
      this.#known.add(id);
      const isQueued = this.fold.row(id)?.type === "message" && before.status === "running";
      if (isQueued) this.#held = [...this.#held, { id, answerId: this.#liveId(), isReadNext: false }];
      else this.#pending.push(id);
    }
    // While calls are open, and while nothing runs, no request is on its way that may have missed a message.
    if (this.#view.status !== "running" || this.#view.openActions.length > 0)
      this.#held = this.#held.map((message) => ({ ...message, isReadNext: true }));
  }

  /** What is finished since the last call. With `isAtRest` nothing is awaited any more: open calls come out as they are. */
  finished(isAtRest = false): string[] {
    this.#releaseRead();
    const lines: string[] = [];
    for (let [id] = this.#pending; id !== undefined; [id] = this.#pending) {
      const row = this.fold.row(id)!;
      if (row.type === "action" && row.outcome === null && row.tool !== "finish" && !isAtRest) {
        lines.push(...this.#introduce(row));
        break;
      }
      lines.push(...this.#linesOf(row));
      this.#pending.shift();
    }
    // Where a message stands, before the answer or behind it, is known once the answer is stored.
    const isPlaced = !this.#held.some((message) => this.#isBefore(message));
    if (this.#pending.length === 0 && isPlaced) {
      const text = this.#streamed.advance(this.#liveText(), this.#liveId());
      if (text.length > 0) lines.push(...this.#thoughtBefore());
      lines.push(...text);
    }
    return lines;
  }

  /** Calls that run or wait, oldest first. */
  openRows(): readonly ActionRow[] {
    return this.#pending.flatMap((id) => {
      const row = this.fold.row(id);
      return row?.type === "action" && row.outcome === null ? [row] : [];
    });
  }

  /** The line that the model is writing, or the newest line of what it thinks. */
  unfinished(): { readonly type: "text" | "reasoning"; readonly text: string } | null {
    const answer = this.#live();
    if (answer === undefined || answer.outcome !== null) return null;
    const last = answer.items.at(-1);
    if (last?.type === "reasoning")
      return { type: "reasoning", text: last.text.trimEnd().split("\n").at(-1)! };
    const text = this.#pending.length === 0 ? this.#streamed.unfinished(this.#liveText()) : "";
    return text === "" ? null : { type: "text", text };
  }

  /** Messages that wait to be read, oldest first: those of the next step, then those of the next turns. */
  queuedMessages(): readonly { readonly id: string; readonly text: string; readonly isLater?: true }[] {
    const { held = [] } = this.#view;
    const later = held.map(({ event_id: id, text }) => ({ id, text, isLater: true as const }));
    return [...this.#unread(), ...later];
  }

  #unread(): { readonly id: string; readonly text: string }[] {
    const { queued, status } = this.#view;
    if (!active.has(status) && status !== "paused") return [];
    return queued.flatMap((id) => {
      const row = this.fold.row(id);
      return row?.type === "message" && this.#held.some((message) => message.id === id) && !row.isTakenBack
        ? [{ id, text: row.text }]
        : [];
    });
  }

  /** Lets messages come out that the agent has read. */
  #releaseRead(): void {
    const { queued } = this.#view;
    const isRead = (message: HeldMessage): boolean =>
      !queued.includes(message.id) || (message.isReadNext && this.#isBefore(message));
    const read = this.#held.filter(isRead);
    this.#held = this.#held.filter((message) => !isRead(message));
    this.#pending.push(...read.map(({ id }) => id).filter((id) => !this.#isTakenBack(id)));
  }

  /** Whether the answer that is being written began after the message was sent. */
  #isBefore({ answerId }: HeldMessage): boolean {
    const live = this.#liveId();
    return live !== null && live !== answerId;
  }

  #isTakenBack(id: string): boolean {
    const row = this.fold.row(id);
    return row?.type === "message" && row.isTakenBack;
  }

  /** What the model said before a call, which need not wait for its outcome. */
  #introduce(row: ActionRow): string[] {
    if (this.#introduced.has(row.id)) return [];
    this.#introduced.add(row.id);
    return [...this.#thought(row.reasoning, row.id), ...this.#answer(row.thought)];
  }

  #linesOf(row: Row): string[] {
    switch (row.type) {
      case "answer":
        return [...this.#thought(row.reasoning, row.id), ...this.#answer(row.text)];
      case "action": {
        const before = this.#introduce(row);
        if (row.tool === "finish")
          return [...before, ...answerLines(textAt(row.action, "message"), this.#options)];
        if (row.outcome !== null) this.#noteCut(row.id);
        return [...before, ...callLines(row, this.#options)];
      }
      default:
        return rowLines(row, this.#options);
    }
  }

  #noteCut(id: string): void {
    if (!this.#cutRows.includes(id)) this.#cutRows.push(id);
  }

  #thought(text: string, id: string): string[] {
    if (text.includes("\n")) this.#noteCut(id);
    const shown = this.#shownThought;
    this.#shownThought = null;
    return shown !== null && text.startsWith(shown) ? [] : thoughtLines(text, this.#options);
  }

  /** What the model thought before the text that it is writing, which is stored behind that text. */
  #thoughtBefore(): string[] {
    if (this.#shownThought !== null) return [];
    const thoughts = this.#live()?.items.filter(({ type }) => type === "reasoning") ?? [];
    const text = thoughts.map((item) => item.text).join("\n");
    if (text.trim() === "") return [];
    this.#shownThought = text;
    return thoughtLines(text, this.#options);
  }

  /** A text of the model, without what came out while it was written. */
  #answer(text: string): string[] {
    const rest = this.#streamed.rest(text);
    this.#streamed = new StreamedAnswer(this.#options.theme);
    return rest ?? answerLines(text, this.#options);
  }

  #live(): ConversationView["answers"][number] | undefined {
    return this.#view.answers.findLast(({ items, hasGap }) => items.length > 0 && !hasGap);
  }

  #liveId(): string | null {
    return this.#live()?.id ?? null;
  }

  #liveText(): string {
    const texts = this.#live()?.items.filter(({ type }) => type === "text") ?? [];
    return texts.map(({ text }) => text).join("\n");
  }
}

/** What the live status says of calls that were handed to a client. */
function awaitedIn(frame: UnknownRecord): string[] {
  const open = listAt(frame, "open_actions").map(asRecord);
  return open
    .filter((call) => textAt(call, "result_deadline") !== "")
    .map((call) => textAt(call, "tool_name"));
}
