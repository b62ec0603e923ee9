/** The origin of an event. */
export const sources = ["agent", "user", "environment"] as const;
export type Source = (typeof sources)[number];
