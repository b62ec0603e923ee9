import { Type, type Static } from "typebox";
import { anyObject, choice, flag } from "../schema.ts";
import { action } from "./action-fields.ts";

const elementIndex = Type.Integer({
  minimum: 0,
  description: "Number of the element, as the latest browser_get_state answer gives it.",
});
const tabId = Type.String({ description: "The four characters that browser_list_tabs shows for the tab." });

/** The common ancestor of the browser actions; takes no arguments. */
export const BrowserAction = action("BrowserAction", {});
export type BrowserAction = Static<typeof BrowserAction>;

export const BrowserNavigateAction = action("BrowserNavigateAction", {
  url: Type.String({ description: "Address to open." }),
  new_tab: flag(false, { description: "True to open it in a new tab." }),
});
export type BrowserNavigateAction = Static<typeof BrowserNavigateAction>;

export const BrowserClickAction = action("BrowserClickAction", {
  index: elementIndex,
  new_tab: flag(false, { description: "True to open the link in a new tab." }),
});
export type BrowserClickAction = Static<typeof BrowserClickAction>;

export const BrowserTypeAction = action("BrowserTypeAction", {
  index: elementIndex,
  text: Type.String({ description: "Text to put into the field, replacing what is there." }),
});
export type BrowserTypeAction = Static<typeof BrowserTypeAction>;

export const BrowserGetStateAction = action("BrowserGetStateAction", {
  include_screenshot: flag(false, { description: "True to add a picture of the page." }),
});
export type BrowserGetStateAction = Static<typeof BrowserGetStateAction>;

export const BrowserGetContentAction = action("BrowserGetContentAction", {
  extract_links: flag(false, { description: "True to keep the addresses of links." }),
  start_from_char: Type.Optional(
    Type.Integer({ minimum: 0, default: 0, description: "Where to go on in a long page." }),
  ),
});
export type BrowserGetContentAction = Static<typeof BrowserGetContentAction>;

export const BrowserScrollAction = action("BrowserScrollAction", {
  direction: Type.Optional(choice(["up", "down"], { default: "down", description: "Which way to scroll." })),
});
export type BrowserScrollAction = Static<typeof BrowserScrollAction>;

export const BrowserGoBackAction = action("BrowserGoBackAction", {});
export type BrowserGoBackAction = Static<typeof BrowserGoBackAction>;

export const BrowserListTabsAction = action("BrowserListTabsAction", {});
export type BrowserListTabsAction = Static<typeof BrowserListTabsAction>;

export const BrowserSwitchTabAction = action("BrowserSwitchTabAction", { tab_id: tabId });
export type BrowserSwitchTabAction = Static<typeof BrowserSwitchTabAction>;

export const BrowserCloseTabAction = action("BrowserCloseTabAction", { tab_id: tabId });
export type BrowserCloseTabAction = Static<typeof BrowserCloseTabAction>;

export const BrowserGetStorageAction = action("BrowserGetStorageAction", {});
export type BrowserGetStorageAction = Static<typeof BrowserGetStorageAction>;

export const BrowserSetStorageAction = action("BrowserSetStorageAction", {
  storage_state: anyObject({
    description: "Cookies and origins in the form that browser_get_storage returns.",
  }),
});
export type BrowserSetStorageAction = Static<typeof BrowserSetStorageAction>;

export const BrowserStartRecordingAction = action("BrowserStartRecordingAction", {});
export type BrowserStartRecordingAction = Static<typeof BrowserStartRecordingAction>;

export const BrowserStopRecordingAction = action("BrowserStopRecordingAction", {});
export type BrowserStopRecordingAction = Static<typeof BrowserStopRecordingAction>;
