import type { ConvokeClient } from "@convoke/client";
import type { TrashedConversation } from "@convoke/protocol";
import { CommandError, exitCodes } from "../exit-codes.ts";

/** Everything in the trash, the newest first. */
export async function* listTrash(client: Pick<ConvokeClient, "call">): AsyncGenerator<TrashedConversation> {
  let pageId: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(client, pageId);
    yield* page.items;
    pageId = page.next_page_id;
  } while (pageId !== null);
}

function readPage(client: Pick<ConvokeClient, "call">, pageId: string | null) {
  return client.call("GET /api/trash", { query: { limit: 100, page_id: pageId } });
}

/** The id in the trash that a person meant by its beginning. Rejects with {@link CommandError} when there is none, or several. */
export async function findTrashed(client: Pick<ConvokeClient, "call">, given: string): Promise<string> {
  const wanted = given.toLowerCase().replaceAll("-", "");
  const found: string[] = [];
  for await (const { conversation_id: id } of listTrash(client))
    if (wanted.length >= 4 && id.replaceAll("-", "").startsWith(wanted)) found.push(id);
  if (found.length === 1) return found[0]!;
  throw new CommandError(
    found.length === 0
      ? `Nothing in the trash has an id that begins with ${given}. See convoke trash ls.`
      : `${found.length} ids in the trash begin with ${given}. Give more of it.`,
    found.length === 0 ? exitCodes.failed : exitCodes.usage,
  );
}
