import type { BrowserInput } from "@convoke/protocol";

export type { BrowserInput };

/** One tab of a browser, as it is now, with secrets masked. */
export type WatchedTab = {
  readonly id: string;
  readonly url: string;
  readonly title: string;
  readonly isFront: boolean;
};

/** Updates for a person who watches a browser. A slow reader misses outdated states and pictures, and nothing else. */
export type BrowserUpdate =
  | { readonly type: "state"; readonly isOpen: boolean; readonly tabs: readonly WatchedTab[] }
  /** The front tab as a base64 JPEG, with secrets hidden as in screenshots. Sizes are those of the page in its own pixels. */
  | { readonly type: "picture"; readonly data: string; readonly width: number; readonly height: number }
  /** Whether a person has control, and whether it is this one. A person who loses it gets a summary of what they did, without typed text. */
  | {
      readonly type: "lent";
      readonly isLent: boolean;
      readonly isYours: boolean;
      readonly did?: string;
    }
  /** A request was refused. When there are no browser tools, no update follows. */
  | { readonly type: "refused"; readonly reason: string };

/**
 * Yields updates until `signal` aborts, the inputs end or the tool is closed. Then control is given back. When the inputs end,
 * the summary of what the person did comes before the end.
 */
export type AttachBrowser = (
  inputs: AsyncIterable<BrowserInput>,
  signal: AbortSignal,
) => AsyncIterable<BrowserUpdate>;
