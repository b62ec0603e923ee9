/** Newer names first: most browsers also name those that they descend from. */
const browsers = [
  [/\bEdg(?:e|A|iOS)?\//u, "Edge"],
  [/\bOPR\//u, "Opera"],
  [/\b(?:Firefox|FxiOS)\//u, "Firefox"],
  [/\b(?:Headless)?Chrom(?:e|ium)\/|\bCriOS\//u, "Chrome"],
  [/\bVersion\/[\d.]+.*\bSafari\//u, "Safari"],
] as const;

const systems = [
  [/\bAndroid\b/u, "Android"],
  [/\biPad\b/u, "iPad"],
  [/\biPhone\b/u, "iPhone"],
  [/\bWindows\b/u, "Windows"],
  [/\bMac OS X\b/u, "macOS"],
  [/\bCrOS\b/u, "ChromeOS"],
  [/\bLinux\b/u, "Linux"],
] as const;

/** Browser and system of a `User-Agent`, such as `Firefox, Windows`; the text itself where it names neither. */
export function describeBrowser(client: string): string {
  const first = (known: typeof browsers | typeof systems): readonly string[] => {
    const found = known.find(([pattern]) => pattern.test(client));
    return found === undefined ? [] : [found[1]];
  };
  return [...first(browsers), ...first(systems)].join(", ") || client;
}
