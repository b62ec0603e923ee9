import { Type } from "typebox";
import { Event, EventPage, EventSortOrder, eventKinds } from "../events/event.ts";
import { extensionEventSchemaByKind } from "../extensions/extension-events.ts";
import { invalid } from "../routes/responses.ts";
import { ok } from "../routes/ok.ts";
import { routesOf } from "../routes/route.ts";
import { choice, nullable, orAbsent, ref } from "../schema.ts";
import { dateTime, maxIds, paging } from "./list-parameters.ts";
import { noSuch } from "./refusals.ts";

const kinds: string[] = [...eventKinds, ...Object.keys(extensionEventSchemaByKind)];
const filter = {
  kind__eq: orAbsent(choice(kinds), { description: "Only events of this kind." }),
  timestamp__gte: orAbsent(dateTime, { description: "Only events at or after this instant." }),
  timestamp__lt: orAbsent(dateTime, { description: "Only events before this instant." }),
};
const search = {
  ...filter,
  sort_order: Type.Optional(ref(EventSortOrder, { default: "TIMESTAMP" })),
  ...paging,
};
const id = Type.Array(Type.String(), { maxItems: maxIds });
const uuid = Type.String({ format: "uuid" });
const missing = noSuch("conversation");
const batch = ok(
  "The events in the order asked for, null for those that do not exist.",
  Type.Array(nullable(ref(Event))),
);

/** The three read routes, with the conversation in the path or, for older clients, in the query. */
const inPath = Type.Object({ conversation_id: uuid });
const inQuery = { conversation_id__eq: uuid };
const prefix = "/api/v1/conversation/{conversation_id}/events";
const olderPrefix = "/api/v1/events";

/** The log of a conversation. */
export const appEventRoutes = routesOf("App events", {
  searchAppEvents: {
    mayAnswerMuch: true,
    method: "GET",
    path: `${prefix}/search`,
    summary: "Page through the events of a conversation",
    auth: true,
    params: inPath,
    query: Type.Object(search),
    responses: { ...ok("A page of events.", EventPage), ...missing, ...invalid },
  },
  countAppEvents: {
    method: "GET",
    path: `${prefix}/count`,
    summary: "Count the events that pass a filter",
    auth: true,
    params: inPath,
    query: Type.Object(filter),
    responses: { ...ok("The number of events.", Type.Integer()), ...missing, ...invalid },
  },
  getAppEvents: {
    method: "GET",
    path: prefix,
    summary: "Read several events by id",
    auth: true,
    params: inPath,
    query: Type.Object({ id }),
    responses: { ...batch, ...missing, ...invalid },
  },
  searchEventsOfConversation: {
    mayAnswerMuch: true,
    method: "GET",
    path: `${olderPrefix}/search`,
    summary: "The older form of the search",
    auth: true,
    query: Type.Object({ ...inQuery, ...search }),
    responses: { ...ok("A page of events.", EventPage), ...missing, ...invalid },
  },
  countEventsOfConversation: {
    method: "GET",
    path: `${olderPrefix}/count`,
    summary: "The older form of the count",
    auth: true,
    query: Type.Object({ ...inQuery, ...filter }),
    responses: { ...ok("The number of events.", Type.Integer()), ...missing, ...invalid },
  },
  getEventsOfConversation: {
    mayAnswerMuch: true,
    method: "GET",
    path: olderPrefix,
    summary: "The older form of reading by id",
    auth: true,
    query: Type.Object({ ...inQuery, id }),
    responses: { ...batch, ...missing, ...invalid },
  },
});
