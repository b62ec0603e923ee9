/**
 * The URL of a path in a preview. A path that would lead to another origin or another part of this server resolves
 * to the preview's `root`.
 */
export function previewAddress(root: string, path: string): string {
  const inside = path.trim().replace(/^\/+/, "");
  try {
    const address = new URL(`./${inside}`, root);
    return address.href.startsWith(root) ? address.href : root;
  } catch {
    // Not a valid URL.
    return root;
  }
}
