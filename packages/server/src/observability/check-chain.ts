import { digestOf, parseChained, parseNote, type ChainedLine, type Link } from "./audit-chain.ts";
import type { AuditHead } from "./audit-heads.ts";
import { isJson } from "../lib/json-object.ts";

/** What is wrong with a stream, and where: `line` counts from 1 in its file and is null for the whole file. */
export type AuditBreak = {
  readonly stream: string;
  readonly file: string;
  readonly line: number | null;
  readonly problem: string;
};

/** Something that has happened to a stream without anybody changing it. */
export type AuditRemark = AuditBreak;

export type ChainDeps = {
  readonly stream: string;
  /** As it was sealed before the files were read; the stream may have grown since. Null: nothing is known. */
  readonly head: AuditHead | null;
  /** The line before the oldest one, as it was sealed after the files were opened; null: nothing is known. */
  readonly start: Link | null;
};

/** Follows the chain of one stream, line by line, up to its first break. */
export class ChainCheck {
  lines = 0;
  /** Lines from before there was a chain, which nothing protects. */
  unchained = 0;
  first: number | null = null;
  broken: AuditBreak | null = null;
  readonly remarks: AuditRemark[] = [];
  readonly #deps: ChainDeps;
  #last: Link | null = null;
  #place: { readonly file: string; readonly line: number | null };

  constructor(deps: ChainDeps) {
    this.#deps = deps;
    this.#place = { file: `${deps.stream}.jsonl`, line: null };
  }

  get last(): number | null {
    return this.#last?.n ?? null;
  }

  /** Reads a file; `isNewest` when no other follows it. */
  file(name: string, text: string, isNewest: boolean): void {
    const lines = text.split("\n");
    const rest = lines.pop() ?? "";
    for (const [index, line] of lines.entries()) {
      if (this.broken !== null) return;
      this.#place = { file: name, line: index + 1 };
      this.#line(line);
    }
    this.#place = { file: name, line: lines.length + 1 };
    if (rest === "" || this.broken !== null) return;
    if (isNewest) this.#remark("is not complete: it is being written, or was cut off by a crash");
    else this.#break("has no end");
  }

  /** Call it after the newest file. */
  end(): void {
    const { head } = this.#deps;
    if (this.broken !== null || head === null || (this.#last?.n ?? 0) >= head.n) return;
    const { file, line } = this.#place;
    this.#place = { file, line: line === null ? null : Math.max(1, line - 1) };
    this.#break(
      `is the last one, number ${this.#last?.n ?? 0}, and the sealed head is number ${head.n}: the end was cut off`,
    );
  }

  #line(text: string): void {
    this.lines += 1;
    const line = parseChained(text);
    if (line === null) {
      if (this.#last === null && (this.#deps.start?.n ?? 0) === 0) {
        this.unchained += 1;
        if (!isJson(text)) this.#remark("is not JSON");
      } else this.#break("is not one of the chain: it was changed or inserted");
      return;
    }
    const problem = this.#problemOf(line) ?? (isJson(text) ? null : "is not JSON");
    if (problem !== null) {
      this.#break(problem);
      return;
    }
    this.first ??= line.n;
    this.#last = { n: line.n, h: line.h };
    this.#readNote(line);
  }

  #problemOf(line: ChainedLine): string | null {
    const { head, start } = this.#deps;
    const { n, h, body } = line;
    // A rotation that a crash interrupted leaves lines before the start; nothing is known about the first of those.
    const previous = this.#last ?? (start !== null && n > start.n ? start : null);
    if (previous !== null) {
      if (n > previous.n + 1) return `has number ${n}, and lines ${previous.n + 1} to ${n - 1} are missing`;
      if (n <= previous.n) return `has number ${n} after number ${previous.n}: the order was changed`;
      if (digestOf(previous.h, body) !== h) {
        return `has number ${n} and does not have its digest: it was changed, or the one before it`;
      }
    }
    for (const sealed of [start, head]) {
      if (sealed?.n === n && sealed.h !== h) return `has number ${n} and is not the one that was sealed`;
    }
    return null;
  }

  #readNote({ body }: ChainedLine): void {
    const note = parseNote(body);
    if (note?.chain === "break") this.#break(`says what a server found when it started: ${note.problem}`);
    else if (note?.chain === "cut off by a crash") this.#remark("says that a line was cut off by a crash");
    else if (note?.chain === "lines lost") this.#remark(`says that ${note.lost} lines were lost`);
  }

  #break(problem: string): void {
    this.broken = { stream: this.#deps.stream, ...this.#place, problem };
  }

  #remark(problem: string): void {
    this.remarks.push({ stream: this.#deps.stream, ...this.#place, problem });
  }
}
