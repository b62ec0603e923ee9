import type { ConvokeClient } from "@convoke/client";
import { CommandError, exitCodes } from "../exit-codes.ts";

/** How the help describes the argument. */
export const conversationArgument = "id of a conversation, its beginning (4 characters or more), or @last";

const newest = { sort_order: "UPDATED_AT_DESC" } as const;
/** That many of the newest conversations are compared with the beginning of an id. */
const maxCompared = 2_000;

/** The id that a person meant by `given`. Rejects with {@link CommandError} when there is none, or several. */
export async function findConversation(
  client: Pick<ConvokeClient, "searchConversations">,
  given: string,
): Promise<string> {
  if (given === "@last") {
    const { items } = await client.searchConversations({ ...newest, limit: 1 });
    if (items[0] !== undefined) return items[0].id;
    throw new CommandError("There is no conversation yet. Start one with convoke run.");
  }
  const wanted = given.toLowerCase().replaceAll("-", "");
  if (/^[0-9a-f]{32}$/.test(wanted)) return withDashes(wanted);
  if (!/^[0-9a-f]{4,31}$/.test(wanted))
    throw new CommandError(`"${given}" is no ${conversationArgument}. See convoke ls.`, exitCodes.usage);
  const found = await listMatching(client, wanted);
  const [first, second] = found;
  if (first === undefined)
    throw new CommandError(
      `No conversation of the newest ${maxCompared} has an id that begins with ${given}.`,
    );
  if (second === undefined) return first;
  const shown = found.slice(0, 5).join(", ");
  throw new CommandError(
    `${found.length} ids begin with ${given}: ${shown}. Give more of it.`,
    exitCodes.usage,
  );
}

async function listMatching(
  client: Pick<ConvokeClient, "searchConversations">,
  wanted: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  let pageId: string | null = null;
  for (let compared = 0; compared < maxCompared; compared += 100) {
    const query = { ...newest, limit: 100, ...(pageId === null ? {} : { page_id: pageId }) };
    const { items, next_page_id: next = null } = await client.searchConversations(query);
    found.push(...items.map(({ id }) => id).filter((id) => id.replaceAll("-", "").startsWith(wanted)));
    if (next === null) break;
    pageId = next;
  }
  return found;
}

function withDashes(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The ids, each as short as all of them allow, and at least 8 characters: ids of the same minute begin alike. */
export function shortIds(ids: readonly string[]): readonly string[] {
  for (let length = 8; length < 36; length++) {
    const short = ids.map((id) => id.slice(0, length));
    if (new Set(short).size === new Set(ids).size && !short.some((id) => id.endsWith("-"))) return short;
  }
  return ids;
}
