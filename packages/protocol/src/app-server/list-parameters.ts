import { Type } from "typebox";
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
