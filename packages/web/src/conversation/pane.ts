import { createContext } from "react";

/** What a conversation is that stands beside others: one of several places on the page. */
export type Pane = {
  /** Takes the conversation off the page; the others stay. */
  readonly close: () => void;
};

/** Null for a conversation that has the page for itself. */
export const PaneContext = createContext<Pane | null>(null);
