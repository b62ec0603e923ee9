import type { Static } from "typebox";
import { toolDefinition } from "./tool-fields.ts";

export const BrowserClickTool = toolDefinition("BrowserClickTool");
export type BrowserClickTool = Static<typeof BrowserClickTool>;

export const BrowserCloseTabTool = toolDefinition("BrowserCloseTabTool");
export type BrowserCloseTabTool = Static<typeof BrowserCloseTabTool>;

export const BrowserGetContentTool = toolDefinition("BrowserGetContentTool");
export type BrowserGetContentTool = Static<typeof BrowserGetContentTool>;

export const BrowserGetStateTool = toolDefinition("BrowserGetStateTool");
export type BrowserGetStateTool = Static<typeof BrowserGetStateTool>;

export const BrowserGetStorageTool = toolDefinition("BrowserGetStorageTool");
export type BrowserGetStorageTool = Static<typeof BrowserGetStorageTool>;

export const BrowserGoBackTool = toolDefinition("BrowserGoBackTool");
export type BrowserGoBackTool = Static<typeof BrowserGoBackTool>;

export const BrowserListTabsTool = toolDefinition("BrowserListTabsTool");
export type BrowserListTabsTool = Static<typeof BrowserListTabsTool>;

export const BrowserNavigateTool = toolDefinition("BrowserNavigateTool");
export type BrowserNavigateTool = Static<typeof BrowserNavigateTool>;

export const BrowserScrollTool = toolDefinition("BrowserScrollTool");
export type BrowserScrollTool = Static<typeof BrowserScrollTool>;

export const BrowserSetStorageTool = toolDefinition("BrowserSetStorageTool");
export type BrowserSetStorageTool = Static<typeof BrowserSetStorageTool>;

export const BrowserStartRecordingTool = toolDefinition("BrowserStartRecordingTool");
export type BrowserStartRecordingTool = Static<typeof BrowserStartRecordingTool>;

export const BrowserStopRecordingTool = toolDefinition("BrowserStopRecordingTool");
export type BrowserStopRecordingTool = Static<typeof BrowserStopRecordingTool>;

export const BrowserSwitchTabTool = toolDefinition("BrowserSwitchTabTool");
export type BrowserSwitchTabTool = Static<typeof BrowserSwitchTabTool>;

export const BrowserToolSet = toolDefinition("BrowserToolSet");
export type BrowserToolSet = Static<typeof BrowserToolSet>;

export const BrowserTypeTool = toolDefinition("BrowserTypeTool");
export type BrowserTypeTool = Static<typeof BrowserTypeTool>;
