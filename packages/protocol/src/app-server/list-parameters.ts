import { Type } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { orAbsent } from "../schema.ts";
import { pageLimit } from "../routes/parameters.ts";

export const dateTime = Type.String({ format: "date-time" });

/** Maximum number of ids in one request. */
export const maxIds = 100;

/** Cursor and size of a page. */
export const paging = {
  page_id: orAbsent(Type.String(), { description: "The next_page_id of the page before." }),
  limit: pageLimit,
};

/** The path parameter of routes below one conversation, with or without dashes. */
export const appConversationParams = Type.Object({ conversation_id: Type.String({ format: "uuid" }) });

/** Missing, or not the caller's. */
export function noSuch(thing: string) {
  return { 404: { description: `There is no such ${thing}.`, schema: ErrorReply } } as const;
}

/** The reason, which says what to do. */
export function refusal<Status extends number>(status: Status, description: string) {
  return { [status]: { description, schema: ErrorReply } } as {
    readonly [S in Status]: { readonly description: string; readonly schema: typeof ErrorReply };
  };
}
