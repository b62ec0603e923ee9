import { UnknownPageError } from "./journal.ts";

/** Where a page of texts begins: at this instant, with this conversation or one whose id is below it. */
export type PageStart = { readonly at: number; readonly conversationId: string };

/** Above every id of a conversation. */
export const highest = "~";

/** The newest first; one instant by conversation. */
export function byPlace(left: PageStart, right: PageStart): number {
  return right.at - left.at || (left.conversationId < right.conversationId ? 1 : -1);
}

export function writePlace({ at, conversationId }: PageStart): string {
  return `${at}-${conversationId}`;
}

export function readPlace(pageId: string): PageStart {
  const [, at, conversationId] = /^(\d{1,16})-(.{1,100})$/.exec(pageId) ?? [];
  if (at === undefined || conversationId === undefined) {
    throw new UnknownPageError(`There is no page ${pageId}. Take next_page_id from the page before.`);
  }
  return { at: Number(at), conversationId };
}
