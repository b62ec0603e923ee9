/** The used part of the Trusted Types API, which the platform's types lack. */
type TrustedTypes = {
  readonly createPolicy: (
    name: string,
    rules: { readonly createScriptURL: (address: string) => string },
  ) => { readonly createScriptURL: (address: string) => unknown };
};

/** The page's only Trusted Types policy: scripts load only from the page's own files. */
const policy = (globalThis as { readonly trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy(
  "convoke",
  { createScriptURL: ownAddress },
);

/** The URL of a script of this page, as a TrustedScriptURL if the browser requires it. */
export function ownScript(address: string): URL {
  return (policy?.createScriptURL(address) ?? ownAddress(address)) as URL;
}

/** Where scripts of the page are served: built, or by the development server. */
const folders = ["assets/", "src/"];
/** The service worker, whose scope is the page's folder. */
const worker = "push-worker.js";

function ownAddress(address: string): string {
  const { href } = new URL(address, document.baseURI);
  const isOwn =
    href === new URL(worker, document.baseURI).href ||
    folders.some((folder) => href.startsWith(new URL(folder, document.baseURI).href));
  if (!isOwn) throw new TypeError("A script from elsewhere does not run in this page.");
  return href;
}
