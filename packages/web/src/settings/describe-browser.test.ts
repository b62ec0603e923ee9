import { expect, test } from "vitest";
import { describeBrowser } from "./describe-browser.ts";

const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";

test.each([
  [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} HeadlessChrome/156.0.0.0 Safari/537.36`, "Chrome, Linux"],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/120.0 Safari/537.36 Edg/120.0`,
    "Edge, Windows",
  ],
  [`Mozilla/5.0 (Linux; Android 14; K) ${webkit} Chrome/120.0 Mobile Safari/537.36`, "Chrome, Android"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 14.1; rv:120.0) Gecko/20100101 Firefox/120.0", "Firefox, macOS"],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1 (KHTML, like Gecko) Version/17.1 Mobile/15E1 Safari/604.1",
    "Safari, iPhone",
  ],
  ["curl/8.5.0", "curl/8.5.0"],
])("%s", (client, name) => {
  expect(describeBrowser(client)).toBe(name);
});
