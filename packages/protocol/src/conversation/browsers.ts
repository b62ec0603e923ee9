import { Type, type Static } from "typebox";
import { choice, closedObject } from "../schema.ts";

/** In pixels of the page as it is shown, from its upper left corner. */
const place = {
  x: Type.Number({ minimum: 0, maximum: 20_000 }),
  y: Type.Number({ minimum: 0, maximum: 20_000 }),
};
const turn = Type.Number({ minimum: -10_000, maximum: 10_000 });

/** What a person who watches the browser of a conversation sends, by its type. All but `take` and `give` are for who has it. */
export const browserInputs = {
  /** Takes the browser from the agent. */
  take: closedObject("BrowserTake", { type: Type.Literal("take") }),
  /** Gives it back to the agent. */
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
  /** `key` as browsers name it: `a`, `A`, `Enter`, `ArrowLeft`, `Shift`. */
  key: closedObject("BrowserKey", {
    type: Type.Literal("key"),
    event: choice(["down", "up"]),
    key: Type.String({ minLength: 1, maxLength: 40 }),
  }),
  /** Puts a text in where the cursor is, as pasting does. */
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

/** One tab of a browser, as it is now. */
export type ShownTab = {
  readonly id: string;
  readonly url: string;
  readonly title: string;
  readonly is_front: boolean;
};

/** What a person who watches a browser gets. Of states and pictures only the newest. */
export type BrowserFrame =
  /** `is_open` is false where the agent has no browser, not yet or not now. */
  | { readonly type: "state"; readonly is_open: boolean; readonly tabs: readonly ShownTab[] }
  /** The tab in front. `data` is a JPEG in base64; sizes are those of the page, in its own pixels. */
  | {
      readonly type: "picture";
      readonly data: string;
      readonly width: number;
      readonly height: number;
    }
  /** Whether a person has it, and whether that is this one. */
  | { readonly type: "lent"; readonly is_lent: boolean; readonly is_yours: boolean }
  /** What was asked for cannot be. */
  | { readonly type: "refused"; readonly reason: string };
