/**
 * The content security policy of the page: it may run its own scripts and reach its own server. `convoke` is its only
 * Trusted Types policy.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  // Terminals and editors set styles from scripts; without foreign connections a style cannot leak data.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "frame-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types convoke",
].join("; ");

/** Headers of all files of the page. */
export const webHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy":
    "camera=(), clipboard-read=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
  "referrer-policy": "no-referrer",
  // For browsers that do not know frame-ancestors.
  "x-frame-options": "DENY",
};
