import { createContext } from "react";
import type { FindTokenRanges } from "./token-types.ts";

/** The highlighter of the page; by default nothing is highlighted. */
export const ColourContext = createContext<FindTokenRanges>(() => Promise.resolve(null));
