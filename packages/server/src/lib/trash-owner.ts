/** No user has a name with a slash in it. */
const prefix = "trash/";

/** Who owns the conversations in the trash of a user: nobody who makes requests, so that no list and no address shows them. */
export function trashOwner(userId: string): string {
  return `${prefix}${userId}`;
}

export function isTrashOwner(ownerId: string): boolean {
  return ownerId.startsWith(prefix);
}

/** The user of a conversation, whether it is in the trash or not. */
export function userOfOwner(ownerId: string): string {
  return isTrashOwner(ownerId) ? ownerId.slice(prefix.length) : ownerId;
}
