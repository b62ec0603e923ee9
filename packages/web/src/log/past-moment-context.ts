import { createContext } from "react";
import type { UnknownRecord } from "../lib/unknown-record.ts";

/** The newest event of a conversation at a moment, and how it stood there; the same object for the same moment. */
export type PastMoment = { readonly at: string; readonly past: UnknownRecord };

/** How another conversation stood at the moment that is shown, null where it is not known; no context where now is shown. */
export const PastMomentContext = createContext<((id: string) => PastMoment | null) | null>(null);
