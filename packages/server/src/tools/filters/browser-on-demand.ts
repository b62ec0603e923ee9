import type { BrowserObservation, BrowserToolSet } from "@convoke/protocol";
import { browserToolSetName, type ToolListing } from "@convoke/tool-host";
import { toolSpecs } from "../../agent/tool-specs.ts";
import type { ConversationConfig } from "../../engine/conversation-config.ts";
import type { SessionContext } from "../../engine/session-context.ts";
import { changeTools, forward, type ToolSource } from "../tool-source.ts";

/** Whether an agent wants the tools of its browser listed only once it asks for them. */
export function isOnDemand({ agent }: Pick<ConversationConfig, "agent">): boolean {
  return toolSpecs(agent).some(
    ({ name, params }) => name === browserToolSetName && params["on_demand"] === true,
  );
}

/** In place of the browser's tools one that asks for them; they are there as soon as the log says that it was called. */
export function browserOnDemand(
  source: ToolSource,
  context: Pick<SessionContext, "hasAskedForBrowser">,
): ToolSource {
  if (!source.tools().some(isBrowsers)) return source;
  const shortened = changeTools(source, (given) => [...given.filter((tool) => !isBrowsers(tool)), listing]);
  return {
    ...forward(source),
    tools: () => (context.hasAskedForBrowser ? source.tools() : shortened()),
    // Asking changes nothing: it is answered here, again after a crash if need be.
    execute: async (request, options) => {
      if (request.tool !== browserToolSetName) return await source.execute(request, options);
      const names = source
        .tools()
        .filter(isBrowsers)
        .map(({ name }) => name);
      return { type: "observation", observation: brought(names) };
    },
  };
}

function isBrowsers({ actionKind }: ToolListing): boolean {
  return actionKind.startsWith("Browser");
}

function brought(names: readonly string[]): BrowserObservation {
  const text = `The browser's tools are there from now on: ${names.join(", ")}.`;
  return {
    kind: "BrowserObservation",
    content: [{ type: "text", text, cache_prompt: false }],
    is_error: false,
    screenshot_data: null,
    full_output_save_dir: null,
  };
}

const definition: BrowserToolSet = {
  kind: "BrowserToolSet",
  title: browserToolSetName,
  description:
    "Get the tools of a browser, for looking at web pages and using them. Call it once, when the work needs pages; it takes no " +
    "arguments, and the tools are there with your next answer.",
  action_type: "BrowserAction",
  observation_type: "BrowserObservation",
  annotations: {
    title: browserToolSetName,
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  meta: null,
};

const listing: ToolListing = {
  name: browserToolSetName,
  actionKind: "BrowserAction",
  isReadOnly: true,
  definition,
};
