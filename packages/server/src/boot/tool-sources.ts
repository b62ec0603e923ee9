import { openClientTools } from "../tools/sources/client-tool-source.ts";
import type { OpenToolSource } from "../tools/tool-source.ts";

/** Sources of tools that need nothing but the conversation, in the order in which the model is offered their tools. */
export const toolSources: readonly OpenToolSource[] = [openClientTools];
