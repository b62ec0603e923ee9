import { createContext } from "react";
import type { AskColours } from "./token-types.ts";

/** Where the parts of the page ask for colours; by itself nothing has any. */
export const ColourContext = createContext<AskColours>(() => Promise.resolve(null));
