import { createHash } from "node:crypto";

/** The file beside the built pages that has the content security policy of all of them. */
export const policyFile = "content-security-policy.txt";

/**
 * The content security policy of pages: their own scripts and the inline ones that they have, by hash; nothing of another origin. Code
 * blocks are coloured by style attributes, so these are allowed.
 */
export function policyOf(pages: readonly string[]): string {
  const hashes = new Set(pages.flatMap(inlineScripts).map((text) => `'sha256-${digest(text)}'`));
  return [
    "default-src 'none'",
    ["script-src 'self'", ...[...hashes].toSorted()].join(" "),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** Texts of the scripts in a page that browsers run from the page itself. */
function inlineScripts(page: string): readonly string[] {
  return [...page.matchAll(/<script\b([^>]*)>([\s\S]*?)<\/script>/g)]
    .filter(([, attributes = ""]) => !/\bsrc=/.test(attributes))
    .map(([, , text = ""]) => text);
}

/** What a built file would load from another origin; links that a reader may follow are not among them. */
export function foreignLoads(file: string, text: string): readonly string[] {
  const patterns = file.endsWith(".css")
    ? [/url\(["']?((?:https?:)?\/\/[^)"']+)/g, /@import\s+["']((?:https?:)?\/\/[^"']+)/g]
    : [
        /<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc="((?:https?:)?\/\/[^"]+)"/g,
        /<link\b[^>]*?\bhref="((?:https?:)?\/\/[^"]+)"/g,
        /\bimport\(?["']((?:https?:)?\/\/[^"']+)/g,
      ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, address = ""]) => address));
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
