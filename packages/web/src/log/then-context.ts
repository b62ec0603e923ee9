import { createContext } from "react";
import type { Loose } from "../lib/loose.ts";

/** The newest event of a conversation at a moment, and how it stood there; the same object for the same moment. */
export type Then = { readonly at: string; readonly past: Loose };

/** How another conversation stood at the moment that is shown, null where it is not known; no context where now is shown. */
export const ThenContext = createContext<((id: string) => Then | null) | null>(null);
