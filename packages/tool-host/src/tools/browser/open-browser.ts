import type { BrowserContext, Page } from "playwright-core";
import type { BrowserParams } from "./browser-params.ts";
import type { Camera } from "./camera.ts";
import type { ElementIndex } from "./element-index.ts";
import type { Recorder } from "./recording.ts";
import type { Tabs } from "./tabs.ts";

/** An open context, as actions use it. */
export type OpenBrowser = {
  readonly context: BrowserContext;
  readonly tabs: Tabs;
  readonly camera: Camera;
  readonly recorder: Recorder;
  readonly params: BrowserParams;
  readonly workspaceDir: string;
  readonly elementsOf: (page: Page) => ElementIndex;
  /** Resolves when no download is running, or after a timeout; true when this action had one. */
  readonly downloaded: () => Promise<boolean>;
  /** Adds a note to the answer. */
  readonly note: (text: string) => void;
};
