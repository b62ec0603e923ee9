import { Type, type Static } from "typebox";
import { closedObject, nullable, object, ref } from "../schema.ts";

/** Current state of one terminal of a conversation. */
export const TerminalSummary = object("TerminalSummary", {
  name: Type.String({ description: "`main` is that of the tool `terminal`." }),
  command: nullable(Type.String(), { description: "What runs in it, or ran last, in one line." }),
  started_at: nullable(Type.String({ format: "date-time" })),
  is_running: Type.Boolean(),
  exit_code: nullable(Type.Integer(), { description: "Of the last command, null while it runs." }),
  is_lent: Type.Boolean({ description: "A person has it, and the agent's commands wait." }),
});
export type TerminalSummary = Static<typeof TerminalSummary>;

export const TerminalList = object("TerminalList", { items: Type.Array(ref(TerminalSummary)) });
export type TerminalList = Static<typeof TerminalList>;

const size = {
  columns: Type.Integer({ minimum: 1, maximum: 1000 }),
  rows: Type.Integer({ minimum: 1, maximum: 500 }),
};

/** Messages of a person who is attached to a terminal, by type. */
export const terminalInputs = {
  /** Takes control from the agent, and sets the person's terminal size. */
  take: closedObject("TerminalTake", { type: Type.Literal("take"), ...size }),
  /** Input; requires control. Keys are bytes as an xterm sends them. */
  type: closedObject("TerminalType", {
    type: Type.Literal("type"),
    text: Type.String({ maxLength: 100_000 }),
  }),
  resize: closedObject("TerminalResize", { type: Type.Literal("resize"), ...size }),
  /** Gives control back to the agent. */
  give: closedObject("TerminalGive", { type: Type.Literal("give") }),
} as const;

export type TerminalInput = {
  [Name in keyof typeof terminalInputs]: Static<(typeof terminalInputs)[Name]>;
}[keyof typeof terminalInputs];

/** Messages to a person who is attached to a terminal. Texts are for an xterm, with secrets masked. */
export type TerminalFrame =
  /** A full redraw: clear, set this size, and write `text`. */
  | {
      readonly type: "screen";
      readonly text: string;
      readonly columns: number;
      readonly rows: number;
      readonly is_lent: boolean;
      readonly is_yours: boolean;
    }
  | { readonly type: "output"; readonly text: string }
  | { readonly type: "size"; readonly columns: number; readonly rows: number }
  /** Whether a person has control, and whether it is this one. */
  | { readonly type: "lent"; readonly is_lent: boolean; readonly is_yours: boolean }
  /** A request was refused. */
  | { readonly type: "refused"; readonly reason: string };
