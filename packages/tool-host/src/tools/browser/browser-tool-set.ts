import type { ToolDefinition } from "@convoke/protocol";
import type { ToolContext, ToolFace, ToolSet } from "../../tool.ts";
import { annotate } from "../define-tool.ts";
import { BrowserProcess } from "./browser-process.ts";
import { BrowserSession } from "./browser-session.ts";
import { findChromium } from "./find-chromium.ts";

/** The name by which an agent gets the fourteen tools of a browser. */
export const browserToolSetName = "browser_tool_set";

export type BrowserToolSetOptions = {
  /** `host:port` of servers that no page may reach, such as the Convoke server itself. */
  readonly closedAddresses?: () => readonly string[];
  /** The path of the browser for tools with this environment; null when there is none. */
  readonly findBrowser?: (environment: Readonly<Record<string, string | undefined>>) => string | null;
};

/** The browser: one Chromium for all conversations of a host, each with its own cookies, tabs and downloads. */
export function createBrowserToolSet({
  closedAddresses = () => [],
  findBrowser = findChromium,
}: BrowserToolSetOptions = {}): ToolSet {
  const browser = new BrowserProcess();
  return {
    name: browserToolSetName,
    faces,
    hasBrowser: true,
    isUsable: (environment) => findBrowser(environment) !== null,
    open: async (context) => {
      const { environment } = context;
      const executablePath = findBrowser(environment);
      if (executablePath === null) throw new Error("Chromium was removed from this machine.");
      return new BrowserSession({
        process: browser,
        context,
        spec: { executablePath, environment, closedAddresses: closedAddresses() },
      });
    },
    close: () => browser[Symbol.asyncDispose](),
  };
}

type Hints = Parameters<typeof annotate>[1];

const acts: Hints = { readOnly: false, destructive: false, idempotent: false, openWorld: true };
const readOnlyHints: Hints = { readOnly: true, destructive: false, idempotent: true, openWorld: true };
const lists: Hints = { ...readOnlyHints, openWorld: false };
const tends: Hints = { ...acts, openWorld: false };
const changes: Hints = { ...tends, destructive: true };

/** In the order in which the model gets them. */
const faces: readonly ToolFace[] = [
  face(
    "Navigate",
    "navigate",
    acts,
    "Open an address in the tab in front, or in a new tab. Then read the page with browser_get_content, or the elements that can be used with browser_get_state.",
  ),
  face(
    "Click",
    "click",
    acts,
    "Click an element by its index of browser_get_state. Links can be opened in a new tab. Lists to choose from and fields for files are used with browser_type. Files that a click downloads come to the folder downloads of the workspace, and the answer names them.",
  ),
  face("GetState", "get_state", readOnlyHints, stateDescription),
  face(
    "GetContent",
    "get_content",
    readOnlyHints,
    "Read the main content of the page as it is now, as Markdown. A long page comes in parts: the answer says which start_from_char reads on. Addresses of links are left out unless extract_links is set.",
  ),
  face(
    "Type",
    "type",
    acts,
    "Put text into a field, in place of what is there, by its index of browser_get_state. Nothing is sent: click a button afterwards. Dates are written 2026-01-31, times 14:05. For a list to choose from the text is that of an option; for a field for files it is paths of the workspace, one a line. $NAME stands for the value of the secret with this name, which nobody sees.",
  ),
  face("Scroll", "scroll", acts, "Scroll the page by 500 pixels."),
  face("GoBack", "go_back", acts, "Go back to the page before in the history of the tab."),
  face("ListTabs", "list_tabs", lists, "List the tabs with their ids, addresses and titles."),
  face("SwitchTab", "switch_tab", tends, "Bring a tab to the front, by its id of browser_list_tabs."),
  face("CloseTab", "close_tab", changes, "Close a tab, by its id of browser_list_tabs."),
  face(
    "GetStorage",
    "get_storage",
    lists,
    "Get the cookies of this browser and what its open pages have stored. It can hold logins: use it only to keep or to restore them.",
  ),
  face(
    "SetStorage",
    "set_storage",
    changes,
    "Put back cookies and stored items in the form that browser_get_storage gives.",
  ),
  face(
    "StartRecording",
    "start_recording",
    tends,
    "Begin to record what the tabs show, as a JSON array of rrweb events in a file that the answer names. Text in fields is recorded masked.",
  ),
  face("StopRecording", "stop_recording", tends, "End the recording; the answer names its file."),
];

function stateDescription({ canSee }: ToolContext): string {
  const picture = canSee
    ? " include_screenshot adds a picture of the visible part; ask for it only when the look matters."
    : "";
  return `Look at the page in front: its address, its tabs, the elements that can be used and the text in sight. Each element has an index that stays its own as long as it is there; use it for browser_click and browser_type. After the page changed, look again.${picture}`;
}

function face(
  stem: Stem,
  name: string,
  hints: Hints,
  description: string | ((context: ToolContext) => string),
): ToolFace {
  const full = `browser_${name}`;
  return {
    name: full,
    actionKind: `Browser${stem}Action`,
    isReadOnly: hints.readOnly,
    traits: () => ({ place: "browser" }),
    define: (context): ToolDefinition => ({
      kind: `Browser${stem}Tool`,
      title: full,
      description: typeof description === "string" ? description : description(context),
      action_type: `Browser${stem}Action`,
      observation_type: "BrowserObservation",
      annotations: annotate(full, hints),
      meta: null,
    }),
  };
}

type Stem =
  | "Navigate"
  | "Click"
  | "GetState"
  | "GetContent"
  | "Type"
  | "Scroll"
  | "GoBack"
  | "ListTabs"
  | "SwitchTab"
  | "CloseTab"
  | "GetStorage"
  | "SetStorage"
  | "StartRecording"
  | "StopRecording";
