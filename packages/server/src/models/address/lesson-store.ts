import type { Lesson } from "./address-rules.ts";

/** Where lessons outlive the process. Neither promise rejects: a lesson that is lost is learnt again. */
export type LessonStore = {
  /** In the order in which they were learnt. */
  read(address: string): Promise<readonly Lesson[]>;
  add(address: string, lessons: readonly Lesson[]): Promise<void>;
};

/** Keeps lessons for as long as it lives. */
export function createMemoryLessons(): LessonStore {
  const byAddress = new Map<string, readonly Lesson[]>();
  return {
    read: async (address) => byAddress.get(address) ?? [],
    add: async (address, lessons) =>
      void byAddress.set(address, [...(byAddress.get(address) ?? []), ...lessons]),
  };
}
