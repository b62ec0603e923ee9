import { Type } from "typebox";
import { Event, EventPage, EventSortOrder } from "../events/event.ts";
import { ConfirmationResponseRequest, SendMessageRequest } from "../requests/send-message.ts";
import { tolerateMessage } from "../requests/tolerate.ts";
import { trimLimits } from "../extensions/trimmed-event.ts";
import { nullable, orAbsent, ref } from "../schema.ts";
import { conversationParams, pageLimit } from "./parameters.ts";
import { conflict, done, invalid, noConversation } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const dateTime = Type.String({ format: "date-time" });

const eventFilter = {
  kind: orAbsent(Type.String(), { description: "Only events of this kind, such as MessageEvent." }),
  source: orAbsent(Type.String(), { description: "Only events from here: agent, user or environment." }),
  body: orAbsent(Type.String(), { description: "Only messages that contain this text, in any case." }),
  timestamp__gte: orAbsent(dateTime, { description: "Only events at or after this instant." }),
  timestamp__lt: orAbsent(dateTime, { description: "Only events before this instant." }),
};

const trim = Type.Optional(
  Type.Integer({
    ...trimLimits,
    description:
      "Ours: an event of more than four times so many characters comes as a TrimmedEvent, with texts of at most so many.",
  }),
);

const prefix = "/api/conversations/{conversation_id}/events";

/** The log of one conversation. Pages are written from stored text, so their schemas are only documentation. */
export const eventRoutes = routesOf("Events", {
  searchEvents: {
    inShare: true,
    mayAnswerMuch: true,
    method: "GET",
    path: `${prefix}/search`,
    summary: "Page through the events of a conversation, filtered and in either order",
    auth: true,
    declaresAuth: false,
    params: conversationParams,
    query: Type.Object({
      page_id: orAbsent(Type.String(), { description: "The next_page_id of the page before." }),
      limit: pageLimit,
      ...eventFilter,
      trim,
      sort_order: Type.Optional(ref(EventSortOrder, { default: "TIMESTAMP" })),
    }),
    responses: { ...ok("A page of events.", EventPage), ...noConversation, ...invalid },
  },
  countEvents: {
    inShare: true,
    method: "GET",
    path: `${prefix}/count`,
    summary: "Count the events that pass a filter",
    auth: true,
    params: conversationParams,
    query: Type.Object(eventFilter),
    responses: { ...ok("The number of events.", Type.Integer()), ...noConversation, ...invalid },
  },
  getEvent: {
    inShare: true,
    mayAnswerMuch: true,
    method: "GET",
    path: `${prefix}/{event_id}`,
    summary: "Read one event",
    auth: true,
    params: Type.Object({ ...conversationParams.properties, event_id: Type.String() }),
    query: Type.Object({ trim }),
    responses: { ...ok("The event.", Event), ...noConversation, ...invalid },
  },
  getEvents: {
    inShare: true,
    mayAnswerMuch: true,
    method: "GET",
    path: prefix,
    summary: "Read several events by id; the ids come in the body or, for callers that cannot, in the query",
    auth: true,
    params: conversationParams,
    query: Type.Object({ ids: Type.Optional(Type.Array(Type.String())), trim }),
    body: Type.Array(Type.String()),
    isBodyOptional: true,
    responses: {
      ...ok(
        "The events in the order asked for, null for those that do not exist.",
        Type.Array(nullable(ref(Event))),
      ),
      ...noConversation,
      ...invalid,
    },
  },
  sendMessage: {
    method: "POST",
    path: prefix,
    summary: "Add a message and, if asked, let the agent work on it",
    auth: true,
    params: conversationParams,
    body: SendMessageRequest,
    takesLargeBody: true,
    tolerateBody: tolerateMessage,
    responses: { ...done, ...noConversation, ...conflict, ...invalid },
  },
  respondToConfirmation: {
    method: "POST",
    path: `${prefix}/respond_to_confirmation`,
    summary: "Approve or reject the actions that wait for confirmation",
    auth: true,
    params: conversationParams,
    body: ConfirmationResponseRequest,
    responses: { ...done, ...noConversation, ...conflict, ...invalid },
  },
});
