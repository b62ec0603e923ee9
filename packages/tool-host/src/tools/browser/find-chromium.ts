import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Advice when no browser is installed. */
export const chromiumFix =
  "Install Chromium or Chrome where the tools run, for example with `apt install chromium`, for agents that use a browser.";

/**
 * The path of a Chromium or Chrome that is installed here; null when there is none. The order is that of the reference, behind the headless
 * shell: a browser without windows, which nobody sees here, for the same pages in a third of the processor time.
 */
export function findChromium(
  environment: Readonly<Record<string, string | undefined>>,
  isThere: (path: string) => boolean = existsSync,
): string | null {
  const home = environment["HOME"] ?? "";
  const folders = (environment["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const candidates = [
    ...(standardPaths[process.platform] ?? []),
    ...downloaded(join(home, process.platform === "darwin" ? "Library/Caches" : ".cache", "ms-playwright")),
    ...folders.flatMap((folder) => names.map((name) => join(folder, name))),
  ];
  return candidates.find(isThere) ?? null;
}

const standardPaths: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: [
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/bin/google-chrome",
    "/usr/bin/google-chrome-stable",
    // The executable itself: Debian's wrapper script reads settings that sandboxes lack.
    "/usr/lib/chromium/chromium",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/microsoft-edge",
    "/usr/bin/microsoft-edge-stable",
  ],
  darwin: [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
  ],
};

const names = ["google-chrome", "chrome", "chromium", "chromium-browser", "microsoft-edge"];

/** Browsers that Playwright has downloaded, the newest first. */
function downloaded(folder: string): string[] {
  const versions = existsSync(folder)
    ? readdirSync(folder).filter((name) => /^chromium-\d+$/.test(name))
    : [];
  return versions
    .sort((a, b) => Number(b.slice("chromium-".length)) - Number(a.slice("chromium-".length)))
    .flatMap((name) => [
      join(folder, name, "chrome-linux64", "chrome"),
      join(folder, name, "chrome-linux", "chrome"),
      join(folder, name, "chrome-mac", "Chromium.app", "Contents", "MacOS", "Chromium"),
    ]);
}
