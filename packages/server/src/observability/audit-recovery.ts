import { beforeFirst, parseChained, type Link } from "./audit-chain.ts";
import type { AuditHead } from "./audit-heads.ts";

/** What was found when a stream is opened to be continued. */
export type Found = {
  /** The newest file, and the one before it; empty when it is not there. Both without a half line at the end. */
  readonly text: Buffer;
  readonly olderText: Buffer;
  /** What is known to have been written; `unsealed` when that was not sealed by this folder's key. */
  readonly head: AuditHead | "unsealed" | null;
};

export type Continuation = {
  /** What the next line follows. */
  readonly last: Link;
  /** Null when all is as it was left; otherwise what the next line has to say. */
  readonly problem: string | null;
  /** True when the newest file has lines of no chain, written before there was one. */
  readonly isUnchained: boolean;
};

/**
 * Where a stream goes on. What does not fit the sealed head is recorded, because the next head hides it otherwise;
 * numbers of lines that were cut off are not given again.
 */
export function continueFrom({ text, olderText, head }: Found): Continuation {
  const lastLine = lastLineOf(text) ?? lastLineOf(olderText);
  const tail = lastLine === null ? null : parseChained(lastLine);
  const broken = (problem: string): Continuation => ({
    last: { n: Math.max(tail?.n ?? 0, toHead(head)?.n ?? 0), h: tail?.h ?? beforeFirst.h },
    problem,
    isUnchained: false,
  });
  if (head === "unsealed") return broken("the heads were not sealed by this folder's key");
  if (head === null) {
    if (tail !== null) return broken("there were lines, and no sealed head");
    return { last: beforeFirst, problem: null, isUnchained: text.length > 0 };
  }
  // Right after lines without a chain were set aside, there is none of the chain yet.
  const isNew = head.n === 0 && text.length === 0;
  if (lastLine !== null && tail === null && !isNew) return broken("the last line was not one of the chain");
  const { n, h } = tail ?? beforeFirst;
  if (n < head.n) return broken(`the files ended with line ${n}, and the sealed head was line ${head.n}`);
  const isHead = n === head.n ? h === head.h : head.n === 0 || holds(head, text) || holds(head, olderText);
  if (!isHead) return broken(`line ${head.n} was not the sealed head`);
  return { last: { n, h }, problem: null, isUnchained: false };
}

function toHead(head: Found["head"]): AuditHead | null {
  return head === "unsealed" ? null : head;
}

function holds({ n, h }: Link, text: Buffer): boolean {
  return text.includes(`,"n":${n},"h":"${h}"}\n`);
}

/** Without its end; null for no lines. */
export function lastLineOf(text: Buffer): string | null {
  if (text.length === 0) return null;
  const end = text.length - 1;
  return text.subarray(end === 0 ? 0 : text.lastIndexOf(newline, end - 1) + 1, end).toString();
}

/** What is after the last whole line is of a write that did not finish. */
export function wholeLines(text: Buffer): Buffer {
  return text.subarray(0, text.lastIndexOf(newline) + 1);
}

const newline = 0x0a;
