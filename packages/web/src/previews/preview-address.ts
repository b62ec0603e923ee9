/**
 * The address of a path in a preview; `root` is the preview's own, which a path leads to as well that would lead out of it: to another
 * server, or to another part of this one.
 */
export function previewAddress(root: string, path: string): string {
  const inside = path.trim().replace(/^\/+/, "");
  try {
    const address = new URL(`./${inside}`, root);
    return address.href.startsWith(root) ? address.href : root;
  } catch {
    // No address at all.
    return root;
  }
}
