import { Type, type Static } from "typebox";
import { choice, object, orNull, ref, unionByKind } from "../schema.ts";

const commandFields = {
  command: Type.String(),
  cwd: orNull(Type.String()),
  timeout: Type.Optional(Type.Integer({ default: 300, description: "Seconds." })),
};
const recordFields = {
  id: Type.Optional(Type.String()),
  timestamp: Type.Optional(Type.String({ format: "date-time" })),
};

/** A command that a client runs independently of the agent. */
export const ExecuteBashRequest = object("ExecuteBashRequest", commandFields);
export type ExecuteBashRequest = Static<typeof ExecuteBashRequest>;

/** The record of such a command. */
export const BashCommand = object("BashCommand", {
  ...commandFields,
  ...recordFields,
  kind: Type.Literal("BashCommand"),
});
export type BashCommand = Static<typeof BashCommand>;

/** A chunk of a command's output; the last one has the exit code. */
export const BashOutput = object("BashOutput", {
  ...recordFields,
  command_id: Type.String(),
  order: Type.Optional(Type.Integer({ default: 0 })),
  exit_code: orNull(Type.Integer()),
  stdout: orNull(Type.String()),
  stderr: orNull(Type.String()),
  kind: Type.Literal("BashOutput"),
});
export type BashOutput = Static<typeof BashOutput>;

export const BashEvent = unionByKind("BashEventBase", {
  "openhands__agent_server__models__BashCommand-Output__1": BashCommand,
  "openhands__agent_server__models__BashOutput-Output__1": BashOutput,
});
export type BashEvent = Static<typeof BashEvent>;

export const BashEventPage = object("BashEventPage", {
  items: Type.Array(ref(BashEvent)),
  next_page_id: orNull(Type.String()),
});
export type BashEventPage = Static<typeof BashEventPage>;

export const BashEventSortOrder = choice(["TIMESTAMP", "TIMESTAMP_DESC"], { $id: "BashEventSortOrder" });
export type BashEventSortOrder = Static<typeof BashEventSortOrder>;
