/** What browsers have of Trusted Types, as far as it is used here; the types of the platform do not know it yet. */
type TrustedTypes = {
  readonly createPolicy: (
    name: string,
    rules: { readonly createScriptURL: (address: string) => string },
  ) => { readonly createScriptURL: (address: string) => unknown };
};

/** The page's one policy: scripts run from files of this page and from nowhere else. */
const policy = (globalThis as { readonly trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy(
  "convoke",
  { createScriptURL: ownAddress },
);

/** The address of a script of this page, as browsers want it that ask where scripts come from. */
export function ownScript(address: string): URL {
  return (policy?.createScriptURL(address) ?? ownAddress(address)) as URL;
}

/** Where scripts of the page lie: built, or, while one works on the page, as they are. Nothing else is served there. */
const folders = ["assets/", "src/"];
/** What runs in the background, for the page and nothing above it. */
const worker = "push-worker.js";

function ownAddress(address: string): string {
  const { href } = new URL(address, document.baseURI);
  const isOwn =
    href === new URL(worker, document.baseURI).href ||
    folders.some((folder) => href.startsWith(new URL(folder, document.baseURI).href));
  if (!isOwn) throw new TypeError("A script from elsewhere does not run in this page.");
  return href;
}
