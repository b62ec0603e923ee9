import type { Language } from "./language-of.ts";
import { openReader } from "./token-ranges.ts";

const read = openReader();

// One response per request, in order.
self.addEventListener("message", ({ data }: MessageEvent<{ text: string; language: Language }>) => {
  self.postMessage(read(data.text, data.language));
});
