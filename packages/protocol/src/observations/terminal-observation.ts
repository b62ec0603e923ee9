import { Type, type Static } from "typebox";
import { flag, nullable, object, orNull, ref } from "../schema.ts";
import { observation } from "./observation-fields.ts";

const unknownNumber = { default: -1 };

/** State of the shell when a command was answered; -1 and null mean unknown. */
export const CmdOutputMetadata = object("CmdOutputMetadata", {
  exit_code: Type.Optional(Type.Integer(unknownNumber)),
  pid: Type.Optional(Type.Integer(unknownNumber)),
  username: orNull(Type.String()),
  hostname: orNull(Type.String()),
  working_dir: orNull(Type.String()),
  py_interpreter_path: orNull(Type.String()),
  prefix: Type.Optional(Type.String({ default: "", description: "Text to show before the output." })),
  suffix: Type.Optional(Type.String({ default: "", description: "Text to show after the output." })),
});
export type CmdOutputMetadata = Static<typeof CmdOutputMetadata>;

/** The output of a command. `exit_code` -1 means that it is still running; `timeout` says why the answer came early. */
export const TerminalObservation = observation("TerminalObservation", {
  command: nullable(Type.String()),
  exit_code: orNull(Type.Integer()),
  timeout: flag(false),
  metadata: Type.Optional(ref(CmdOutputMetadata, { impliedDefault: {} })),
  full_output_save_dir: orNull(Type.String(), { description: "Folder that holds output too long to show." }),
});
export type TerminalObservation = Static<typeof TerminalObservation>;
