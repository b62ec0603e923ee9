import { createContext } from "react";
import type { UnknownRecord } from "@convoke/client/view";

/** A conversation at a past moment: its newest event and its state. The same object for the same moment. */
export type PastMoment = { readonly at: string; readonly past: UnknownRecord };

/** The state of another conversation at the shown moment, null if unknown; no context value for the present. */
export const PastMomentContext = createContext<((id: string) => PastMoment | null) | null>(null);
