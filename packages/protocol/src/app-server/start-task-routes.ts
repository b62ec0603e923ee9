import { Type } from "typebox";
import { tolerateInitialMessage } from "../requests/tolerate.ts";
import { conflict, invalid } from "../routes/responses.ts";
import { ok } from "../routes/ok.ts";
import { routesOf } from "../routes/route.ts";
import { nullable, orAbsent, ref } from "../schema.ts";
import { dateTime, maxIds, paging } from "./list-parameters.ts";
import { noSuch } from "./refusals.ts";
import {
  AppConversationStartRequest,
  AppConversationStartTask,
  AppConversationStartTaskPage,
  AppConversationStartTaskSortOrder,
} from "./start-task.ts";

const prefix = "/api/v1/app-conversations";
const filter = {
  conversation_id__eq: orAbsent(Type.String({ format: "uuid" }), {
    description: "Only the start of this conversation.",
  }),
  created_at__gte: orAbsent(dateTime, { description: "Only starts at or after this instant." }),
};

/** Starting conversations in sandboxes. Source: contract 4.4. */
export const startTaskRoutes = routesOf("Start tasks", {
  startAppConversation: {
    method: "POST",
    path: prefix,
    summary: "Begin to start a conversation in a sandbox; the task that is answered says how far it is",
    auth: true,
    body: AppConversationStartRequest,
    takesLargeBody: true,
    tolerateBody: tolerateInitialMessage,
    responses: {
      ...ok("The task, which goes on by itself.", AppConversationStartTask),
      ...noSuch("parent conversation"),
      ...conflict,
      ...invalid,
    },
  },
  streamAppConversationStart: {
    method: "POST",
    path: `${prefix}/stream-start`,
    summary: "The same, answered with the task after each change until it has ended",
    auth: true,
    body: AppConversationStartRequest,
    takesLargeBody: true,
    tolerateBody: tolerateInitialMessage,
    responses: {
      ...ok("A JSON list that is written item by item.", Type.Array(ref(AppConversationStartTask))),
      ...noSuch("parent conversation"),
      ...conflict,
      ...invalid,
    },
  },
  searchStartTasks: {
    method: "GET",
    path: `${prefix}/start-tasks/search`,
    summary: "Page through one's start tasks",
    auth: true,
    query: Type.Object({
      ...filter,
      sort_order: Type.Optional(ref(AppConversationStartTaskSortOrder, { default: "CREATED_AT_DESC" })),
      ...paging,
    }),
    responses: { ...ok("A page of start tasks.", AppConversationStartTaskPage), ...invalid },
  },
  countStartTasks: {
    method: "GET",
    path: `${prefix}/start-tasks/count`,
    summary: "Count one's start tasks that pass a filter",
    auth: true,
    query: Type.Object(filter),
    responses: { ...ok("The number of start tasks.", Type.Integer()), ...invalid },
  },
  getStartTasks: {
    method: "GET",
    path: `${prefix}/start-tasks`,
    summary: "Read several start tasks by id",
    auth: true,
    query: Type.Object({ ids: Type.Array(Type.String({ format: "uuid" }), { maxItems: maxIds }) }),
    responses: {
      ...ok(
        "The start tasks in the order asked for, null for those that do not exist.",
        Type.Array(nullable(ref(AppConversationStartTask))),
      ),
      ...invalid,
    },
  },
});
