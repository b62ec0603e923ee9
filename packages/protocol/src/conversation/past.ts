import { Type, type Static } from "typebox";
import { nullable, object, ref } from "../schema.ts";
import { ConversationInfo } from "./conversation-info.ts";

/** A call that had no answer at that time. */
export const PastAction = object("PastAction", {
  action_id: Type.String(),
  tool_name: Type.String(),
  tool_call_id: Type.String(),
  is_waiting: Type.Boolean({ description: "Its user was asked whether it may run." }),
});

/** State of a conversation at an event of its log. */
export const PastState = object("PastState", {
  event_id: nullable(Type.String({ description: "Null in an empty log." })),
  timestamp: nullable(Type.String({ description: "Of the event." })),
  position: Type.Integer({ minimum: 0, description: "Of the event in the log; the first one has 1." }),
  length: Type.Integer({ minimum: 0, description: "How many events the log has now." }),
  conversation: ref(ConversationInfo, {
    description:
      "Status, costs and the model as of then. What the log does not tell, such as the title and the limits, is that of now.",
  }),
  open_actions: Type.Array(ref(PastAction)),
  queued: Type.Array(Type.String(), { description: "Messages that the model had not been given, by id." }),
});
export type PastState = Static<typeof PastState>;

const places = (description: string) => Type.Array(Type.Integer({ minimum: 1 }), { description });

/** Cost of a conversation up to an event, and how full its agent's context was. */
export const SpentAt = object("SpentAt", {
  position: Type.Integer({ minimum: 1 }),
  cost: Type.Number({ minimum: 0, description: "US dollars, all that was spent until then." }),
  context: nullable(
    Type.Number({
      minimum: 0,
      description:
        "Share of the context window that the newest request filled; null where the window is not known.",
    }),
  ),
});
export type SpentAt = Static<typeof SpentAt>;

/** Positions of landmarks in a log; the first event has position 1. */
export const Landmarks = object("Landmarks", {
  length: Type.Integer({ minimum: 0, description: "How many events the log has now." }),
  turns: places("Messages of the user."),
  errors: places("Runs and calls that failed."),
  rejected: places("Calls that were not allowed."),
  condensations: places("Where a summary took the place of older events for the model."),
  branches: places("Where somebody went back to an event before, and where a copy of a conversation begins."),
  tasks: places("Where sub-agents began their work."),
  spent: Type.Array(ref(SpentAt), {
    description: "One of many where there are many; the newest is always there.",
  }),
});
export type Landmarks = Static<typeof Landmarks>;
