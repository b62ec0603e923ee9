import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Whether somebody sits here who would see a browser: there is a screen, and a person who started this. */
export function canOpenBrowser(environment: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  return isTerminal && Boolean(environment["DISPLAY"] || environment["WAYLAND_DISPLAY"]);
}

/**
 * Opens a link in the person's browser; false where nothing does that. The link may log in, and everybody on the machine sees the
 * arguments of every process: so the browser gets a file that nobody else can read, which leads on to the link.
 */
export async function openBrowser(link: string, dataDir: string): Promise<boolean> {
  const file = join(dataDir, "open.html");
  await rm(file, { force: true });
  await writeFile(file, leadingTo(link), { mode: 0o600 });
  const opener = spawn("xdg-open", [pathToFileURL(file).href], { stdio: "ignore", detached: true });
  opener.unref();
  try {
    await once(opener, "spawn");
    return true;
  } catch {
    // There is no such program here.
    return false;
  }
}

function leadingTo(link: string): string {
  const address = link.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${address}">
<title>Convoke</title>
<a href="${address}">Convoke</a>
`;
}
