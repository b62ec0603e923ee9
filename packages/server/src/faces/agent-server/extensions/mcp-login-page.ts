import type { RouteReply } from "../../../http/mount.ts";

const texts = {
  done: ["You are logged in", "Close this page and go back to where you began."],
  failed: ["The login did not succeed", "Go back to where you began; it says why."],
  "hand-over": [
    "One more step",
    "This browser did not begin the login. If you began it in an application, copy the address of this page into it. " +
      "If you did not, close this page: somebody may want to log in with your consent.",
  ],
  unknown: ["Nothing waits for this login", "It may have ended, or be too old. Begin a new one."],
} as const;

/** The page after a login to an MCP server. It shows nothing from the request. */
export function loginPage(outcome: keyof typeof texts): RouteReply {
  const [title, text] = texts[outcome];
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`;
  return {
    status: outcome === "unknown" ? 400 : 200,
    headers: {
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      // The URL holds the code, so no referrer is sent to other sites.
      "referrer-policy": "no-referrer",
    },
    bytes: new TextEncoder().encode(page),
    contentType: "text/html; charset=utf-8",
  };
}
