import { createContext } from "react";

/** The pane of a conversation that is shown side by side. */
export type Pane = {
  /** Closes the pane; the others stay. */
  readonly close: () => void;
};

/** Null for a conversation in the full page. */
export const PaneContext = createContext<Pane | null>(null);
