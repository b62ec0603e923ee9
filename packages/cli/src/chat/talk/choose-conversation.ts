import type { ConvokeClient } from "@convoke/client";
import type { ConversationInfo } from "@convoke/protocol";
import { CommandError, exitCodes } from "../../exit-codes.ts";

export type Wanted = {
  /** An id or its beginning; undefined: none was named. */
  readonly id: string | undefined;
  /** Absolute. */
  readonly folder: string;
  /** Go on with the newest conversation of the folder. */
  readonly isGoingOn: boolean;
};

const shortest = 4;

/** The id of the conversation to show; null: a new one. Rejects with `CommandError` where the one that is wanted is not there. */
export async function chooseConversation(
  client: Pick<ConvokeClient, "searchConversations">,
  { id, folder, isGoingOn }: Wanted,
): Promise<string | null> {
  if (id === undefined && !isGoingOn) return null;
  const wanted = id?.toLowerCase();
  if (wanted !== undefined && !/^[0-9a-f-]+$/u.test(wanted))
    throw new CommandError(
      `"${id}" is no id of a conversation. Ids are hexadecimal, such as 0198a3f0.`,
      exitCodes.usage,
    );
  if (wanted !== undefined && wanted.length >= 32) return wanted;
  if (wanted !== undefined && wanted.length < shortest)
    throw new CommandError(`Write at least ${shortest} characters of the id.`, exitCodes.usage);
  const found = await search(client, (info) =>
    wanted === undefined
      ? folderOf(info) === folder && !info.parent_conversation_id
      : info.id.startsWith(wanted),
  );
  const [first, second] = found;
  if (first === undefined)
    throw new CommandError(
      wanted === undefined
        ? `There is no conversation of ${folder} yet. convoke chat begins one.`
        : `No conversation begins with ${wanted}.`,
    );
  if (wanted !== undefined && second !== undefined)
    throw new CommandError(
      `${wanted} begins several ids: ${first.id}, ${second.id}. Write more of it.`,
      exitCodes.usage,
    );
  return first.id;
}

/** The two newest that fit. */
async function search(
  client: Pick<ConvokeClient, "searchConversations">,
  fits: (info: ConversationInfo) => boolean,
): Promise<ConversationInfo[]> {
  const found: ConversationInfo[] = [];
  let pageId: string | null | undefined;
  do {
    const page = await client.searchConversations({
      limit: 100,
      sort_order: "UPDATED_AT_DESC",
      ...(pageId ? { page_id: pageId } : {}),
    });
    found.push(...page.items.filter(fits));
    pageId = page.next_page_id;
  } while (pageId && found.length < 2);
  return found;
}

export function folderOf({ workspace }: ConversationInfo): string | null {
  return "working_dir" in workspace ? workspace.working_dir : null;
}
