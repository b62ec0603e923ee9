import { Type, type Static } from "typebox";
import { choice, closedObject } from "../schema.ts";

/** In pixels of the page as shown, from its upper left corner. */
const place = {
  x: Type.Number({ minimum: 0, maximum: 20_000 }),
  y: Type.Number({ minimum: 0, maximum: 20_000 }),
};
const turn = Type.Number({ minimum: -10_000, maximum: 10_000 });

/** Messages of a person who watches the browser of a conversation, by type. All but `take` and `give` require control of it. */
export const browserInputs = {
  /** Takes control from the agent. */
  take: closedObject("BrowserTake", { type: Type.Literal("take") }),
  /** Gives control back to the agent. */
  give: closedObject("BrowserGive", { type: Type.Literal("give") }),
  mouse: closedObject("BrowserMouse", {
    type: Type.Literal("mouse"),
    event: choice(["move", "down", "up"]),
    ...place,
    button: choice(["left", "middle", "right"]),
    /** 2 for the second press of a double click. */
    clicks: Type.Integer({ minimum: 1, maximum: 3 }),
  }),
  wheel: closedObject("BrowserWheel", { type: Type.Literal("wheel"), ...place, dx: turn, dy: turn }),
  /** `key` as in browser key events: `a`, `A`, `Enter`, `ArrowLeft`, `Shift`. */
  key: closedObject("BrowserKey", {
    type: Type.Literal("key"),
    event: choice(["down", "up"]),
    key: Type.String({ minLength: 1, maxLength: 40 }),
  }),
  /** Inserts a text at the cursor, like pasting. */
  text: closedObject("BrowserText", {
    type: Type.Literal("text"),
    text: Type.String({ minLength: 1, maxLength: 20_000 }),
  }),
  /** Brings a tab to the front. */
  tab: closedObject("BrowserTab", { type: Type.Literal("tab"), id: Type.String({ maxLength: 100 }) }),
} as const;

export type BrowserInput = {
  [Name in keyof typeof browserInputs]: Static<(typeof browserInputs)[Name]>;
}[keyof typeof browserInputs];

/** Current state of one tab of a browser. */
export type ShownTab = {
  readonly id: string;
  readonly url: string;
  readonly title: string;
  readonly is_front: boolean;
};

/** Messages to a person who watches a browser. Of states and pictures a slow reader gets only the newest. */
export type BrowserFrame =
  /** `is_open` is false when the agent has no open browser. */
  | { readonly type: "state"; readonly is_open: boolean; readonly tabs: readonly ShownTab[] }
  /** The front tab. `data` is a base64 JPEG; sizes are those of the page, in its own pixels. */
  | {
      readonly type: "picture";
      readonly data: string;
      readonly width: number;
      readonly height: number;
    }
  /** Whether a person has control, and whether it is this one. */
  | { readonly type: "lent"; readonly is_lent: boolean; readonly is_yours: boolean }
  /** A request was refused. */
  | { readonly type: "refused"; readonly reason: string };
