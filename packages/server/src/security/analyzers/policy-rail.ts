import { textOf } from "./action-text.ts";
import type { AssessedCall, Verdict } from "./verdict.ts";
import { inOrder } from "./in-order.ts";
import { deletesPlaces, undisguise } from "./shell-text.ts";

type Rail = { readonly name: string; readonly isCrossed: (segment: string) => boolean };

/** Combinations that are never harmless, each searched for in one command line at a time. */
const rails: readonly Rail[] = [
  {
    name: "fetch-to-exec",
    isCrossed: (segment) =>
      /\b(?:curl|wget|fetch)\b/i.test(segment) &&
      (/\|\s*(?:sudo\s+)?(?:[\w./-]*\/)?(?:(?:ba|z|da|k|fi)?sh|python\d*|perl|ruby|node)\b/i.test(segment) ||
        /\b(?:ba|z|da|k)?sh\s+(?:-c\s+)?["']?(?:<\(|\$\(|`)\s*(?:curl|wget)/i.test(segment) ||
        /\b(?:eval|source|\.)\s+["']?(?:<\(|\$\(|`)\s*(?:curl|wget)/i.test(segment)),
  },
  {
    name: "raw-disk-op",
    isCrossed: (segment) =>
      inOrder(segment, /\n/u, [/\bdd\b/i, /\bof=\/dev\/(?!null\b|stdout\b|stderr\b)/i]) ||
      inOrder(segment, /\n/u, [/\b(?:mkfs(?:\.\w+)?|wipefs|fdisk|parted)\b/i, /\/dev\//i]) ||
      />\s*\/dev\/(?:sd|nvme|vd|hd|mmcblk)/i.test(segment) ||
      inOrder(segment, /\|/u, [/\btee\b/i, /\/dev\/(?:sd|nvme|vd|hd|mmcblk)/i]),
  },
  { name: "catastrophic-delete", isCrossed: deletesPlaces },
];

/** HIGH when a call does one of a few destructive things, otherwise LOW. */
export function assessByRails(call: AssessedCall): Verdict {
  const { run, isComplete } = textOf(call);
  const segments = undisguise(run)
    .split(/\n|;|&&|\|\|/)
    .map((segment) => segment.trim());
  const crossed = rails.filter(({ isCrossed }) => segments.some(isCrossed)).map(({ name }) => name);
  if (crossed.length > 0) return { risk: "HIGH", reasons: crossed };
  return isComplete
    ? { risk: "LOW", reasons: [] }
    : { risk: "UNKNOWN", reasons: ["too long to be read to its end"] };
}
