import type { BrowserInput } from "@convoke/protocol";

export type { BrowserInput };

/** One tab of a browser, as it is now, with secrets masked. */
export type WatchedTab = {
  readonly id: string;
  readonly url: string;
  readonly title: string;
  readonly isFront: boolean;
};

/** What a person who watches a browser sees. A slow one misses states and pictures that are no longer true, and nothing else. */
export type BrowserUpdate =
  | { readonly type: "state"; readonly isOpen: boolean; readonly tabs: readonly WatchedTab[] }
  /** The tab in front: a JPEG in base64 that shows no more of secrets than a screenshot does; sizes are those of the page, in its pixels. */
  | { readonly type: "picture"; readonly data: string; readonly width: number; readonly height: number }
  /** Whether a person has it, and whether that is this one; who had it is told what they did, in words without what they typed. */
  | {
      readonly type: "lent";
      readonly isLent: boolean;
      readonly isYours: boolean;
      readonly did?: string;
    }
  /** What was asked for cannot be; where there are no tools of a browser, nothing follows. */
  | { readonly type: "refused"; readonly reason: string };

/**
 * One who watches: what to show, until `signal` aborts, the inputs end or the tool is closed. Whoever has the browser gives it back by
 * that; where the inputs end, what they did is told before the end.
 */
export type AttachBrowser = (
  inputs: AsyncIterable<BrowserInput>,
  signal: AbortSignal,
) => AsyncIterable<BrowserUpdate>;
