import { Type, type Static, type TSchema } from "typebox";
import { choice, object, orNull, ref, unionByKind } from "../schema.ts";
import type { ACPToolCallEvent } from "../extensions/extension-events.ts";
import { ActionEvent } from "./action-event.ts";
import { Condensation, CondensationRequest, CondensationSummaryEvent } from "./condensation-events.ts";
import {
  ConversationErrorEvent,
  ConversationStateUpdateEvent,
  LLMCompletionLogEvent,
  PauseEvent,
  TokenEvent,
} from "./conversation-events.ts";
import type { Source } from "./sources.ts";
import { MessageEvent } from "./message-event.ts";
import { AgentErrorEvent, ObservationEvent, UserRejectObservation } from "./observation-events.ts";
import { SystemPromptEvent } from "./system-prompt-event.ts";

/** The events of the contract, which clients that know only it can read. */
export const Event = unionByKind("Event", {
  "openhands__sdk__event__condenser__Condensation-Output__1": Condensation,
  "openhands__sdk__event__condenser__CondensationRequest-Output__1": CondensationRequest,
  "openhands__sdk__event__condenser__CondensationSummaryEvent-Output__1": CondensationSummaryEvent,
  "openhands__sdk__event__conversation_error__ConversationErrorEvent-Output__1": ConversationErrorEvent,
  "openhands__sdk__event__conversation_state__ConversationStateUpdateEvent-Output__1":
    ConversationStateUpdateEvent,
  "openhands__sdk__event__llm_completion_log__LLMCompletionLogEvent-Output__1": LLMCompletionLogEvent,
  "openhands__sdk__event__llm_convertible__action__ActionEvent-Output__1": ActionEvent,
  "openhands__sdk__event__llm_convertible__message__MessageEvent-Output__1": MessageEvent,
  "openhands__sdk__event__llm_convertible__observation__AgentErrorEvent-Output__1": AgentErrorEvent,
  "openhands__sdk__event__llm_convertible__observation__ObservationEvent-Output__1": ObservationEvent,
  "openhands__sdk__event__llm_convertible__observation__UserRejectObservation-Output__1":
    UserRejectObservation,
  "openhands__sdk__event__llm_convertible__system__SystemPromptEvent-Output__1": SystemPromptEvent,
  "openhands__sdk__event__token__TokenEvent-Output__1": TokenEvent,
  "openhands__sdk__event__user_action__PauseEvent-Output__1": PauseEvent,
});
/** All events of a conversation's log: also the kind that only a conversation with another agent has. */
export type Event = Static<typeof Event> | ACPToolCallEvent;

/** An event as stored in the log: identity, time and source are always present. */
export type StoredEvent = Event & {
  readonly id: string;
  readonly timestamp: string;
  readonly source: Source;
};

/** The kind names of Event. */
export type EventKind = Event["kind"];

type ContractKind = Static<typeof Event>["kind"];

/** The schema of each event kind of the contract. */
export const eventSchemaByKind: Readonly<
  Record<ContractKind, TSchema> & Record<string, TSchema | undefined>
> = {
  Condensation,
  CondensationRequest,
  CondensationSummaryEvent,
  ConversationErrorEvent,
  ConversationStateUpdateEvent,
  LLMCompletionLogEvent,
  ActionEvent,
  MessageEvent,
  AgentErrorEvent,
  ObservationEvent,
  UserRejectObservation,
  SystemPromptEvent,
  TokenEvent,
  PauseEvent,
};

/** The event kinds of the contract, in its order. */
export const eventKinds = Object.keys(eventSchemaByKind) as ContractKind[];

/** A page of events; `next_page_id` is the id of the first event of the next page. */
export const EventPage = object("EventPage", {
  items: Type.Array(ref(Event)),
  next_page_id: orNull(Type.String()),
});
export type EventPage = Static<typeof EventPage>;

/** Log order, or its reverse. */
export const EventSortOrder = choice(["TIMESTAMP", "TIMESTAMP_DESC"], { $id: "EventSortOrder" });
export type EventSortOrder = Static<typeof EventSortOrder>;
