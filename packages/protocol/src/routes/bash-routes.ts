import { Type } from "typebox";
import { ErrorReply, Success } from "../requests/replies.ts";
import { mapOf, nullable, orAbsent, ref } from "../schema.ts";
import {
  BashCommand,
  BashEvent,
  BashEventPage,
  BashEventSortOrder,
  BashOutput,
  ExecuteBashRequest,
} from "../workspace/bash.ts";
import { pageLimit } from "./parameters.ts";
import { invalid, machineRefusals } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const prefix = "/api/bash";
const dateTime = Type.String({ format: "date-time" });
const busy = {
  429: { description: "Too many commands run already.", schema: ErrorReply },
} as const;

/** Commands that a person runs independently of the agent. Source: agent server 0.1.0. */
export const bashRoutes = routesOf("Bash", {
  searchBashEvents: {
    method: "GET",
    path: `${prefix}/bash_events/search`,
    summary: "Page through one's commands and their outputs, filtered and in either order",
    auth: true,
    query: Type.Object({
      kind__eq: orAbsent(Type.Enum(["BashCommand", "BashOutput"], { type: "string" })),
      command_id__eq: orAbsent(Type.String({ format: "uuid" })),
      timestamp__gte: orAbsent(dateTime),
      timestamp__lt: orAbsent(dateTime),
      order__gt: orAbsent(Type.Integer()),
      sort_order: Type.Optional(ref(BashEventSortOrder, { default: "TIMESTAMP" })),
      page_id: orAbsent(Type.String()),
      limit: pageLimit,
    }),
    responses: { ...ok("A page of events.", BashEventPage), ...machineRefusals, ...invalid },
  },
  getBashEvents: {
    method: "GET",
    path: `${prefix}/bash_events/`,
    summary: "Read several events by id; the ids come in the body or, for callers that cannot, in the query",
    auth: true,
    query: Type.Object({ ids: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })) }),
    body: Type.Array(Type.String()),
    isBodyOptional: true,
    responses: {
      ...ok(
        "The events in the order asked for, null for those that do not exist.",
        Type.Array(nullable(ref(BashEvent))),
      ),
      ...machineRefusals,
      ...invalid,
    },
  },
  getBashEvent: {
    method: "GET",
    path: `${prefix}/bash_events/{event_id}`,
    summary: "Read one event",
    auth: true,
    params: Type.Object({ event_id: Type.String() }),
    responses: {
      ...ok("The event.", BashEvent),
      ...machineRefusals,
      404: { description: "There is no such event.", schema: ErrorReply },
      ...invalid,
    },
  },
  clearBashEvents: {
    method: "DELETE",
    path: `${prefix}/bash_events`,
    summary: "Forget one's commands and their outputs; what runs goes on",
    auth: true,
    responses: {
      ...ok("How many events there were.", mapOf(Type.Integer())),
      ...machineRefusals,
    },
  },
  startBashCommand: {
    method: "POST",
    path: `${prefix}/start_bash_command`,
    summary: "Start a command and answer at once",
    auth: true,
    body: ExecuteBashRequest,
    responses: { ...ok("The command.", BashCommand), ...machineRefusals, ...busy, ...invalid },
  },
  stopBashCommand: {
    method: "POST",
    path: `${prefix}/bash_commands/{command_id}/stop`,
    summary: "End a command with all it started; answers when it has ended, also where it had already",
    auth: true,
    params: Type.Object({ command_id: Type.String() }),
    responses: {
      ...ok("It has ended.", Success),
      ...machineRefusals,
      404: { description: "There is no such command.", schema: ErrorReply },
      ...invalid,
    },
  },
  executeBashCommand: {
    method: "POST",
    path: `${prefix}/execute_bash_command`,
    summary: "Run a command to its end and answer with all that it printed",
    auth: true,
    body: ExecuteBashRequest,
    responses: { ...ok("The whole output.", BashOutput), ...machineRefusals, ...busy, ...invalid },
  },
});
