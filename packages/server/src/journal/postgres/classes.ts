import type { Pool } from "pg";
import type { NewEvent } from "../journal.ts";

/** One (kind, source) pair, of events with or without a text; every kind and source filter is a set of classes. */
export type EventClass = {
  readonly code: number;
  readonly kind: string;
  readonly source: string;
  readonly has_text: boolean;
};

type Asked = Pick<Pool, "query">;
type Classified = Pick<NewEvent, "kind" | "source" | "text">;

/** The numbers of classes. They never change, so all that were met are remembered. */
export class Classes {
  readonly #pool: Pool;
  readonly #codes = new Map<string, number>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Null when it is not known: then {@link learn} it. */
  codeOf(kind: string, source: string, hasText: boolean): number | null {
    return this.#codes.get(keyOf(kind, source, hasText)) ?? null;
  }

  areKnown(events: readonly Classified[]): boolean {
    return events.every(({ kind, source, text }) => this.codeOf(kind, source, text !== null) !== null);
  }

  /** Over a connection that is in no transaction: what is undone there must not be known here. */
  async learn(events: readonly Classified[], connection: Asked = this.#pool): Promise<void> {
    for (const { kind, source, text } of events) {
      const hasText = text !== null;
      if (this.codeOf(kind, source, hasText) === null) await this.#learn([kind, source, hasText], connection);
    }
  }

  /** What was met last may not be there any more. */
  forget(): void {
    this.#codes.clear();
  }

  /** Asked again each time: other processes add some. */
  async select(isSelected: (eventClass: EventClass) => boolean): Promise<number[]> {
    const { rows } = await this.#pool.query<EventClass>(
      "SELECT code, kind, source, has_text FROM convoke.classes",
    );
    return rows.filter(isSelected).map(({ code }) => code);
  }

  async #learn(
    values: readonly [kind: string, source: string, hasText: boolean],
    connection: Asked,
  ): Promise<void> {
    await connection.query(
      "INSERT INTO convoke.classes (kind, source, has_text) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      [...values],
    );
    const { rows } = await connection.query<{ code: number }>(
      "SELECT code FROM convoke.classes WHERE kind = $1 AND source = $2 AND has_text = $3",
      [...values],
    );
    this.#codes.set(keyOf(...values), rows[0]!.code);
  }
}

function keyOf(kind: string, source: string, hasText: boolean): string {
  return `${hasText} ${source} ${kind}`;
}
