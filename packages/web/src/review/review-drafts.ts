import { asRecord, listAt, numberAt, recordAt, textAt, textsAt } from "@convoke/client/view";
import type { BrowserStorage } from "../lib/browser-storage.ts";
import { Cell, type Store } from "../lib/store.ts";
import type { ReviewComment } from "./review-comment.ts";

export type ReviewDraft = {
  readonly summary: string;
  readonly comments: readonly ReviewComment[];
  /** Digests of accepted changes, by path: a change with another digest needs review again. */
  readonly accepted: Readonly<Record<string, string>>;
};

/** The unsent review of a conversation; saved at each keystroke (U16). */
export class ReviewDrafts implements Store<ReviewDraft> {
  readonly #storage: BrowserStorage;
  readonly #key: string;
  readonly #cell: Cell<ReviewDraft>;

  constructor(storage: BrowserStorage, conversationId: string) {
    this.#storage = storage;
    this.#key = `review.${conversationId}`;
    this.#cell = new Cell(readStored(storage.read(this.#key)));
  }

  get snapshot(): () => ReviewDraft {
    return this.#cell.snapshot;
  }

  get subscribe(): (onChange: () => void) => () => void {
    return this.#cell.subscribe;
  }

  /** Adds a comment, or replaces the one with the same id. */
  write(comment: ReviewComment): void {
    const { comments } = this.#cell.snapshot();
    const isKnown = comments.some(({ id }) => id === comment.id);
    this.#set({
      comments: isKnown
        ? comments.map((other) => (other.id === comment.id ? comment : other))
        : [...comments, comment],
    });
  }

  remove(id: string): void {
    this.#set({ comments: this.#cell.snapshot().comments.filter((comment) => comment.id !== id) });
  }

  summarize(summary: string): void {
    this.#set({ summary });
  }

  /** Null revokes the acceptance. */
  accept(path: string, digest: string | null): void {
    const { [path]: _, ...others } = this.#cell.snapshot().accepted;
    this.#set({ accepted: digest === null ? others : { ...others, [path]: digest } });
  }

  /** Clears the comments, which are being sent; accepted changes stay accepted. */
  clear(): void {
    this.#set({ summary: "", comments: [] });
  }

  #set(change: Partial<ReviewDraft>): void {
    const next = { ...this.#cell.snapshot(), ...change };
    this.#cell.set(next);
    const isEmpty =
      next.summary === "" && next.comments.length === 0 && Object.keys(next.accepted).length === 0;
    if (isEmpty) this.#storage.remove(this.#key);
    else this.#storage.write(this.#key, next);
  }
}

/** Parses stored data, which an earlier version may have written. */
function readStored(value: unknown): ReviewDraft {
  const stored = asRecord(value);
  const comments = listAt(stored, "comments").map((item): ReviewComment => {
    const fields = asRecord(item);
    return {
      id: textAt(fields, "id"),
      path: textAt(fields, "path"),
      side: textAt(fields, "side") === "before" ? "before" : "after",
      from: numberAt(fields, "from") ?? 0,
      to: numberAt(fields, "to") ?? 0,
      code: textsAt(fields, "code"),
      text: textAt(fields, "text"),
    };
  });
  const accepted = Object.entries(recordAt(stored, "accepted") ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return {
    summary: textAt(stored, "summary"),
    comments: comments.filter(({ id }) => id !== ""),
    accepted: Object.fromEntries(accepted),
  };
}
