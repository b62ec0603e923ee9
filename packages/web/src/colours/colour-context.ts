import { createContext } from "react";
import type { FindTokenRanges } from "./token-types.ts";

/** Where the parts of the page ask for colours; by itself nothing has any. */
export const ColourContext = createContext<FindTokenRanges>(() => Promise.resolve(null));
