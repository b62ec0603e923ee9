import type { BrowserContext, Page } from "playwright-core";
import type { BrowserParams } from "./browser-params.ts";
import type { Camera } from "./camera.ts";
import type { ElementIndex } from "./element-index.ts";
import type { Recorder } from "./recording.ts";
import type { Tabs } from "./tabs.ts";

/** What the actions of one open context work with. */
export type OpenBrowser = {
  readonly context: BrowserContext;
  readonly tabs: Tabs;
  readonly camera: Camera;
  readonly recorder: Recorder;
  readonly params: BrowserParams;
  readonly workspaceDir: string;
  readonly elementsOf: (page: Page) => ElementIndex;
  /** Resolves when no download is under way any more, after a while at the latest; true when there was one in this action. */
  readonly downloaded: () => Promise<boolean>;
  /** Says something besides the answer. */
  readonly note: (text: string) => void;
};
