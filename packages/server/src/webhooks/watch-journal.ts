import type { Journal } from "../journal/journal.ts";

export type JournalWatch = {
  /** After a commit; must return at once. */
  readonly onAppend: (conversationId: string, lastSeq: number) => void;
  /** Before a conversation is removed. */
  readonly onDelete: (conversationId: string) => Promise<void>;
};

/** The journal itself, except that somebody hears of every commit of this process. */
export function watchJournal(journal: Journal, watch: JournalWatch): Journal {
  const own: Pick<Journal, "append" | "createConversation" | "deleteConversation"> = {
    append: async (lease, batch) => {
      await journal.append(lease, batch);
      watch.onAppend(lease.conversationId, batch.expectedSeq + batch.events.length);
    },
    createConversation: async (row) => {
      const isNew = await journal.createConversation(row);
      if (isNew) watch.onAppend(row.id, 0);
      return isNew;
    },
    deleteConversation: async (lease) => {
      await watch.onDelete(lease.conversationId);
      await journal.deleteConversation(lease);
      watch.onAppend(lease.conversationId, 0);
    },
  };
  return new Proxy(journal, {
    get: (target, property) => {
      if (Object.hasOwn(own, property)) return own[property as keyof typeof own];
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
