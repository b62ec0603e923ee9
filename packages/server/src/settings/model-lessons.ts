import { describeError } from "../lib/describe-error.ts";
import type { Logger } from "../lib/logger.ts";
import type { Lesson } from "../models/address/address-rules.ts";
import type { LessonStore } from "../models/address/lesson-store.ts";
import { putRow, rowsWith } from "../database/rows.ts";
import type { StoreDeps } from "./store-deps.ts";

export type ModelLessonsDeps = StoreDeps & { readonly logger: Logger };

/** Providers change their limits: after this time everything is tried again. */
const lastsMs = 30 * 86_400_000;
/** More than any address teaches. */
const maxLessons = 100;

/** The lessons from models' addresses, per user because lessons name tools. */
export class ModelLessons {
  readonly #deps: ModelLessonsDeps;

  constructor(deps: ModelLessonsDeps) {
    this.#deps = deps;
  }

  of(userId: string): LessonStore {
    return {
      read: async (address) => {
        try {
          return await this.#read(userId, address);
        } catch (error) {
          this.#warn(error);
          return [];
        }
      },
      add: async (address, lessons) => {
        try {
          await this.#add(userId, address, lessons);
        } catch (error) {
          this.#warn(error);
        }
      },
    };
  }

  async #read(userId: string, address: string): Promise<readonly Lesson[]> {
    const { database, clock } = this.#deps;
    const row = await rowsWith(database.tables, "model_lessons", { user_id: userId, address })
      .where("updated_at", ">", clock.nowMs() - lastsMs)
      .executeTakeFirst();
    return row === undefined ? [] : (JSON.parse(row.lessons) as readonly Lesson[]);
  }

  async #add(userId: string, address: string, lessons: readonly Lesson[]): Promise<void> {
    const { database, clock } = this.#deps;
    const known = await this.#read(userId, address);
    const all = new Map([...known, ...lessons].map((lesson) => [JSON.stringify(lesson), lesson]));
    await putRow(database.tables, "model_lessons", {
      user_id: userId,
      address,
      lessons: JSON.stringify([...all.values()].slice(-maxLessons)),
      updated_at: clock.nowMs(),
    });
  }

  /** A conversation continues without its lessons: a lost one costs one refused request. */
  #warn(error: unknown): void {
    this.#deps.logger.warn(
      { error: describeError(error) },
      "what model providers refuse could not be stored or read",
    );
  }
}
