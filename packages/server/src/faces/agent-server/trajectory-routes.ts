import { secretValues, sparedTexts } from "../../conversation/secret-values.ts";
import { toConversationInfo } from "../../conversation/state/describe.ts";
import type { Directory } from "../../conversation/directory.ts";
import { conversationMissing } from "../../conversation/refusals.ts";
import type { RouteHandler } from "../../http/mount.ts";
import type { Journal } from "../../journal/journal.ts";
import { Fault } from "../../lib/fault.ts";
import { createMask, type Mask } from "../../security/mask.ts";
import { zipStream, type ZipEntry } from "../../workspaces/zip-stream.ts";
import { asAttachment } from "./workspace/file-download.ts";
import { conversationIdOf } from "./event-routes.ts";

export type TrajectoryRouteDeps = {
  readonly directory: Pick<Directory, "describe">;
  readonly journal: Pick<Journal, "read" | "lastSeq">;
  /** The values of a user's secrets. */
  readonly userSecrets: (userId: string) => Promise<Readonly<Record<string, string>>>;
};

/** What the plain form of the ZIP format can hold, less the file about the conversation. */
const mostEvents = 65_000;
const batchSize = 100;

/** A conversation as files: `meta.json`, and each event as it goes out anywhere. Source: reference, agent-server 14. */
export function trajectoryHandlers({ directory, journal, userSecrets }: TrajectoryRouteDeps) {
  return {
    downloadTrajectory: async (request) => {
      const { caller } = request;
      const id = conversationIdOf(request);
      const described = await directory.describe(caller, id);
      if (described === null) throw conversationMissing(id);
      if ((await journal.lastSeq(id)) > mostEvents) {
        throw new Fault(
          "too-large",
          "trajectory_too_long",
          `The conversation has more than ${mostEvents} events. Read them with events/search.`,
        );
      }
      // Events are stored without secrets; this is for those that were added after the event.
      const values = [...secretValues(described.secrets), ...Object.values(await userSecrets(caller.userId))];
      const mask = createMask(values, sparedTexts(described.config));
      const meta = JSON.stringify(toConversationInfo(described), null, 2);
      return {
        stream: zipStream(listEntries(id, meta, journal, mask)),
        contentType: "application/zip",
        headers: asAttachment(`${id}.zip`),
      };
    },
  } satisfies Record<string, RouteHandler>;
}

async function* listEntries(
  id: string,
  meta: string,
  journal: Pick<Journal, "read">,
  mask: Mask,
): AsyncGenerator<ZipEntry> {
  yield { name: "meta.json", content: Buffer.from(mask(meta, "document")) };
  for (let afterSeq = 0; ;) {
    const events = await journal.read(id, afterSeq, batchSize);
    for (const event of events) {
      const number = String(event.seq).padStart(5, "0");
      yield { name: `events/event-${number}-${event.id}.json`, content: Buffer.from(mask(event.json)) };
    }
    const last = events.at(-1);
    if (last === undefined) return;
    afterSeq = last.seq;
  }
}
