/** The URL of an event of the shown conversation. */
export function linkTo(eventId: string): string {
  return `${location.origin}${location.pathname}?event=${eventId}`;
}
