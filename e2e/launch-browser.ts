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

export type LaunchOptions = {
  /** With what the headless shell lacks: notifications. */
  readonly isWhole?: boolean;
};

/** A browser for pages of the server; the headless shell where it is installed. */
export async function launchBrowser({ isWhole = false }: LaunchOptions = {}): Promise<Browser> {
  return await chromium.launch({
    executablePath: isWhole ? whole : usual,
    args: ["--no-sandbox", "--disable-gpu"],
  });
}
