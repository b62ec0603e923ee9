import { textOf } from "./action-text.ts";
import type { AssessedCall, Verdict } from "./analyzer.ts";
import { deletesPlaces, undisguise } from "./shell-text.ts";

type Rail = { readonly name: string; readonly isCrossed: (segment: string) => boolean };

/** Combinations that are never harmless, each looked for in one line of work at a time. */
const rails: readonly Rail[] = [
  {
    name: "fetch-to-exec",
    isCrossed: (segment) =>
      /\b(?:curl|wget|fetch)\b/i.test(segment) &&
      (/\|\s*(?:sudo\s+)?(?:\S*\/)?(?:(?:ba|z|da|k|fi)?sh|python\d*|perl|ruby|node)\b/i.test(segment) ||
        /\b(?:ba|z|da|k)?sh\s+(?:-c\s+)?["']?(?:<\(|\$\(|`)\s*(?:curl|wget)/i.test(segment) ||
        /\b(?:eval|source|\.)\s+["']?(?:<\(|\$\(|`)\s*(?:curl|wget)/i.test(segment)),
  },
  {
    name: "raw-disk-op",
    isCrossed: (segment) =>
      /\bdd\b.*\bof=\/dev\/(?!null\b|stdout\b|stderr\b)/i.test(segment) ||
      /\b(?:mkfs(?:\.\w+)?|wipefs|fdisk|parted)\b.*\/dev\//i.test(segment) ||
      /(?:>|\btee\b[^|]*)\s*\/dev\/(?:sd|nvme|vd|hd|mmcblk)/i.test(segment),
  },
  { name: "catastrophic-delete", isCrossed: deletesPlaces },
];

/** HIGH when a call does one of the few things that nobody wants by accident, otherwise LOW. */
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
