import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const given = process.env["CONVOKE_CHROMIUM"];
const whole = given ?? "/usr/bin/chromium";
/**
 * The same engine without a browser's own windows and services. It takes half the processor time for the same pages: 14 s in place
 * of 27 s for six logins, twelve page loads and two runs of axe.
 */
const shell = "/usr/bin/chromium-headless-shell";
const usual = given === undefined && existsSync(shell) ? shell : whole;

/** The reason why the tests of the page cannot run here; null when they can. */
export const noBrowser = existsSync(whole) ? null : `no chromium at ${whole}`;

let shared: Promise<Browser> | undefined;

/**
 * The browser of this process for all of its tests, each with a context of its own: a start takes 0.8 s of processor time. Another process
 * has another one, because a browser has one clipboard. It ends with the process, which is given half a second for that: so it is killed,
 * and its folders are removed, as the process exits.
 */
export async function sharedBrowser(): Promise<Browser> {
  if (shared === undefined) {
    process.once("SIGTERM", () => process.exit());
    shared = launchBrowser({ isWhole: false, handleSIGTERM: false });
  }
  return await shared;
}

export type LaunchOptions = {
  /** With what the headless shell lacks: notifications. */
  readonly isWhole: boolean;
  /** Whether it is closed before the process ends by that signal, as it is unless given. */
  readonly handleSIGTERM?: boolean;
};

/** A browser for pages of the server; the headless shell where it is installed, unless it has to be the whole one. */
export async function launchBrowser({ isWhole, handleSIGTERM = true }: LaunchOptions): Promise<Browser> {
  return await chromium.launch({
    executablePath: isWhole ? whole : usual,
    args: ["--no-sandbox", "--disable-gpu"],
    handleSIGTERM,
  });
}
