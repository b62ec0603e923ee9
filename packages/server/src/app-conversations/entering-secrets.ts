/**
 * Those of a user's stored secrets that may enter a sandbox: all of them where its spec names none. It bounds what the server puts in by
 * itself: what people send with a request or type in a shell is theirs to give.
 */
export function enteringSecrets<Secret>(
  stored: Readonly<Record<string, Secret>>,
  names: readonly string[] | undefined,
): Readonly<Record<string, Secret>> {
  if (names === undefined) return stored;
  return Object.fromEntries(Object.entries(stored).filter(([name]) => names.includes(name)));
}
