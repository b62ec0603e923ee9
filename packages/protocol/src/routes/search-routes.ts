import { Type } from "typebox";
import { SearchPage } from "../conversation/search.ts";
import { orAbsent } from "../schema.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** Search in all conversations. */
export const searchRoutes = routesOf("Search", {
  searchEverything: {
    method: "GET",
    path: "/api/search",
    summary: "Page through the events of one's conversations that have some words in them, the newest first",
    auth: true,
    query: Type.Object({
      q: Type.String({
        minLength: 1,
        maxLength: 400,
        description:
          'Words and "phrases", at most 8, each found in any case and inside of other words; an event has all of them.',
      }),
      kind: orAbsent(Type.String({ maxLength: 100 }), { description: "Only events of this kind." }),
      source: orAbsent(Type.String({ maxLength: 100 }), { description: "Only events of this source." }),
      conversation_id: orAbsent(Type.String({ format: "uuid" })),
      since: orAbsent(Type.String({ format: "date-time" }), { description: "At or after this instant." }),
      until: orAbsent(Type.String({ format: "date-time" }), { description: "Before this instant." }),
      page_id: orAbsent(Type.String({ maxLength: 200 }), {
        description: "The next_page_id of the page before.",
      }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 20 })),
    }),
    responses: { ...ok("A page of what was found.", SearchPage), ...invalid },
  },
});
