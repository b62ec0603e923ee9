import { chromium, type Browser } from "playwright-core";

/** A browser that can only reach this machine, whatever a page requests. */
export function launchBrowser(program: string): Promise<Browser> {
  const args = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"];
  return chromium.launch({ executablePath: program, args });
}
