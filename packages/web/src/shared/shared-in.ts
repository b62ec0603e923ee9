/** The conversation of a share link's path; null for other paths. Its key is in the fragment, which servers never see. */
export function sharedIn(pathname: string): string | null {
  return /\/shared\/([\w-]+)$/.exec(pathname)?.[1] ?? null;
}
