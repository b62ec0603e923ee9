import type { DatabaseSync, StatementSync } from "node:sqlite";

/** One (kind, source) pair; every kind and source filter is a set of classes. */
export type EventClass = {
  readonly code: number;
  readonly kind: string;
  readonly source: string;
  readonly hasText: boolean;
};

/** Reads the classes that a filter selects. */
export class ClassReader {
  readonly #all: StatementSync;

  constructor(database: DatabaseSync) {
    this.#all = database.prepare("SELECT code, kind, source, has_text FROM classes");
    this.#all.setReturnArrays(true);
  }

  select(isSelected: (eventClass: EventClass) => boolean): EventClass[] {
    const rows = this.#all.all() as unknown as [number, string, string, number][];
    return rows
      .map(([code, kind, source, hasText]) => ({ code, kind, source, hasText: hasText === 1 }))
      .filter(isSelected);
  }
}

/** Numbers the classes inside the writer's transaction. */
export class ClassWriter {
  readonly #database: DatabaseSync;
  readonly #known = new Map<string, EventClass>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** An undone transaction may have taken classes back. */
  forget(): void {
    this.#known.clear();
  }

  codeOf(kind: string, source: string, hasText: boolean): number {
    const key = `${source} ${kind}`;
    let known = this.#known.get(key);
    if (known === undefined || (hasText && !known.hasText)) {
      known = this.#write(kind, source, hasText);
      this.#known.set(key, known);
    }
    return known.code;
  }

  #write(kind: string, source: string, hasText: boolean): EventClass {
    const row = this.#database
      .prepare(
        `INSERT INTO classes (kind, source, has_text) VALUES (?, ?, ?)
         ON CONFLICT (kind, source) DO UPDATE SET has_text = max(has_text, excluded.has_text)
         RETURNING code, has_text`,
      )
      .get(kind, source, Number(hasText)) as { code: number; has_text: number };
    if (row.code >= classLimit) throw new RangeError(`Too many kinds of events: ${kind}`);
    return { code: row.code, kind, source, hasText: row.has_text === 1 };
  }
}

const classLimit = 256;
