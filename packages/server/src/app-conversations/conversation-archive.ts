import type { Readable } from "node:stream";
import type { Journal } from "../journal/journal.ts";
import type { Mask } from "../security/mask.ts";
import { zipStream, type ZipEntry } from "../workspaces/zip-stream.ts";

export type ArchiveOrder = {
  readonly journal: Pick<Journal, "read">;
  readonly conversationId: string;
  /** JSON about the conversation. */
  readonly meta: string;
  /** Hides secrets in a JSON document. */
  readonly mask: Mask;
};

const pageSize = 100;

/** The most events that one archive has. */
export const maxArchivedEvents = 10_000;

/** A zip file with `meta.json` and each event in a file of its own, in the order of the log; read as it is sent. */
export function archiveConversation(order: ArchiveOrder): Readable {
  return zipStream(entries(order));
}

async function* entries({ journal, conversationId, meta, mask }: ArchiveOrder): AsyncGenerator<ZipEntry> {
  yield { name: "meta.json", content: Buffer.from(mask(meta, "document")) };
  for (let after = 0; ;) {
    const events = await journal.read(conversationId, after, pageSize);
    for (const { seq, id, json } of events) {
      const number = String(seq - 1).padStart(6, "0");
      yield { name: `event_${number}_${id.replaceAll("-", "")}.json`, content: Buffer.from(mask(json)) };
      if (seq === maxArchivedEvents) return;
    }
    const last = events.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}
