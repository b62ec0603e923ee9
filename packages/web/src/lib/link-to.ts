/** The address of an event of the conversation that the page shows. */
export function linkTo(eventId: string): string {
  return `${location.origin}${location.pathname}?event=${eventId}`;
}
