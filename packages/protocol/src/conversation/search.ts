import { Type, type Static } from "typebox";
import { nullable, object, orNull, ref } from "../schema.ts";

/** A snippet of a text around a match. */
export const SnippetPart = object("SnippetPart", {
  text: Type.String(),
  is_match: Type.Boolean(),
});
export type SnippetPart = Static<typeof SnippetPart>;

/** A conversation whose title matches. */
export const TitleHit = object("TitleHit", {
  conversation_id: Type.String(),
  updated_at: Type.String({ format: "date-time" }),
  snippet: Type.Array(ref(SnippetPart)),
});
export type TitleHit = Static<typeof TitleHit>;

/** An event that matches. */
export const SearchHit = object("SearchHit", {
  conversation_id: Type.String(),
  title: nullable(Type.String()),
  event_id: Type.String(),
  timestamp: Type.String({ format: "date-time" }),
  kind: Type.String(),
  source: Type.String(),
  tool_name: nullable(Type.String()),
  snippet: Type.Array(ref(SnippetPart), {
    description: "Some 240 characters around the first match, on one line.",
  }),
});
export type SearchHit = Static<typeof SearchHit>;

export const SearchPage = object("SearchPage", {
  titles: Type.Array(ref(TitleHit), { description: "On the first page only, at most 10." }),
  items: Type.Array(ref(SearchHit), {
    description: "The newest first. Can be fewer than the limit, even none, before the last page.",
  }),
  next_page_id: orNull(Type.String()),
  is_complete: Type.Boolean({ description: "False while some events have not been read yet." }),
  progress: Type.Number({ description: "The share of the conversations that have been read, 0 to 1." }),
});
export type SearchPage = Static<typeof SearchPage>;
