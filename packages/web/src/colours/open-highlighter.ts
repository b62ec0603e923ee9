import { ownScript } from "../lib/own-script.ts";
// eslint-disable-next-line import/default -- Vite exports the address of what it makes of the file
import workerAddress from "./colour-worker.ts?worker&url";
import { Highlighter, type Reader } from "./highlighter.ts";
import type { TokenRanges } from "./token-types.ts";

/** Tokenizes in a worker, which starts with the first text and stays. */
export function openHighlighter(): Highlighter {
  return new Highlighter({
    openReader: openWorker,
    later: (ms, callback) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
  });
}

function openWorker(onAnswer: (ranges: TokenRanges | null) => void): Reader {
  const worker = new Worker(ownScript(workerAddress), { type: "module", name: "colours" });
  worker.addEventListener("message", ({ data }: MessageEvent<TokenRanges>) => onAnswer(data));
  worker.addEventListener("error", () => onAnswer(null));
  return {
    ask: (text, language) => worker.postMessage({ text, language }),
    close: () => worker.terminate(),
  };
}
