import { Type, type Static } from "typebox";
import { closedObject, nullable, object, ref } from "../schema.ts";
import { terminalInputs } from "./terminals.ts";

/** A person's shell in the workspace of a conversation. */
export const ShellSummary = object("ShellSummary", {
  id: Type.String({ format: "uuid" }),
  created_at: Type.String({ format: "date-time" }),
  columns: Type.Integer(),
  rows: Type.Integer(),
  is_running: Type.Boolean(),
  exit_code: nullable(Type.Integer(), {
    description: "128 + n when signal n ended it. Null while it runs, and where nobody knows.",
  }),
});
export type ShellSummary = Static<typeof ShellSummary>;

export const ShellList = object("ShellList", { items: Type.Array(ref(ShellSummary)) });
export type ShellList = Static<typeof ShellList>;

export const OpenShellRequest = closedObject("OpenShellRequest", {
  columns: Type.Integer({ minimum: 1, maximum: 1000 }),
  rows: Type.Integer({ minimum: 1, maximum: 500 }),
});
export type OpenShellRequest = Static<typeof OpenShellRequest>;

/** Messages of a person to their own shell, by type. Nobody else uses the shell, so there is no control to take or give. */
export const shellInputs = { type: terminalInputs.type, resize: terminalInputs.resize } as const;

export type ShellInput = {
  [Name in keyof typeof shellInputs]: Static<(typeof shellInputs)[Name]>;
}[keyof typeof shellInputs];

/** Messages to a person from their own shell. Texts are for an xterm, with secrets masked. */
export type ShellFrame =
  /** A full redraw: clear, set this size, and write `text`. */
  | { readonly type: "screen"; readonly text: string; readonly columns: number; readonly rows: number }
  | { readonly type: "output"; readonly text: string }
  | { readonly type: "size"; readonly columns: number; readonly rows: number }
  /** The shell has ended; the socket is closed. */
  | { readonly type: "ended"; readonly exit_code: number | null }
  /** A request was refused. */
  | { readonly type: "refused"; readonly reason: string };
